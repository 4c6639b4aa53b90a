// sotto-probe cuda|hip|vulkan --library PATH: prints what a driver says about its devices, as one JSON
// document.

#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "platform/process.h"
#include "probe/questions.h"

namespace {

using sotto::ProbeReport;
using Question = ProbeReport (*)(const std::filesystem::path&);

Question question_about(std::string_view kind) {
  if (kind == "cuda") return sotto::probing::ask_cuda;
  if (kind == "hip") return sotto::probing::ask_hip;
  if (kind == "vulkan") return sotto::probing::ask_vulkan;
  return nullptr;
}

ProbeReport ask(Question question, const std::filesystem::path& library) {
  ProbeReport report;
  try {
    return question(library);
  } catch (const sotto::Error& error) {
    const bool lacks_functions = error.code() == sotto::ErrorCode::unsupported;
    report.error = {std::string(lacks_functions ? sotto::kEntryPointsStep : sotto::kOpenStep), 0,
                    error.what()};
  } catch (const std::exception& error) {
    report.error = {"probe", 0, error.what()};
  }
  return report;
}

}  // namespace

int main(int count, char** arguments) {
  const Question question = count >= 2 ? question_about(arguments[1]) : nullptr;
  if (question == nullptr || count != 4 || std::string_view(arguments[2]) != "--library") {
    std::fputs("usage: sotto-probe cuda|hip|vulkan --library PATH\n", stderr);
    return 2;
  }
  const int output = sotto::become_helper_process();
  sotto::end_helper_process(output, sotto::probe_report_to_json(ask(question, arguments[3])) + "\n");
}
