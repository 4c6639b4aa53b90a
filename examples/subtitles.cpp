// Prints the subtitles of one file: subtitles FILE [OPTION=VALUE...]
#include <cstdio>
#include <iostream>
#include <string>

#include <sotto/sotto.hpp>

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: subtitles FILE [OPTION=VALUE...]\n";
    return 2;
  }
  try {
    const auto options = sotto::own(sotto_options_new);
    for (int i = 2; i < argc; ++i) {
      const std::string argument = argv[i];
      const size_t equals = argument.find('=');
      const std::string value = equals == std::string::npos ? "true" : argument.substr(equals + 1);
      sotto::check(sotto_options_set(options.get(), argument.substr(0, equals).c_str(), value.c_str()));
    }
    const auto model = sotto::own(sotto_model_open, options.get());
    std::cerr << sotto_model_device(model.get()) << '\n';
    const auto result = sotto::own(sotto_transcribe_file, model.get(), argv[1], options.get(), nullptr);
    std::cout << sotto::text(sotto_result_write, result.get(), "srt", options.get());
    return 0;
  } catch (const sotto::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
