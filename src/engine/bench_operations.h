#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "device/backends.h"
#include "model/checkpoint.h"

namespace sotto {

// Each operation of a model of this shape, alone and over and over: how long it takes, its arithmetic, the
// bytes it has to move, and which fractions of the ceilings that makes. One row of a table each.
nlohmann::ordered_json bench_operations(Backend& backend, std::string_view shape, const ModelConfig& config,
                                        const DeviceCeilings& ceilings);

}  // namespace sotto
