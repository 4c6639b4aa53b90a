#pragma once

#include <string>
#include <string_view>

#include "base/function_ref.h"
#include "base/options.h"

namespace sotto {

// Measures the machine's ceilings (multiply-add rate, read bandwidth) and what the engine reaches of them for
// models of the named official shapes ("tiny,base"), with random weights. All figures come from one run, so
// their ratios hold. Returns a JSON document.
std::string run_bench(const Options& options, std::string_view shapes,
                      FunctionRef<void(const std::string&)> on_step);

}  // namespace sotto
