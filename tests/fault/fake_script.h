#pragma once

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <unistd.h>

// What a fake driver does. Each library reads the file that lies beside it under its own name with ".script":
// lines of "name value"; "device" begins a device.
namespace sotto::test::fake {

struct DeviceScript {
  std::string name, architecture, uuid, type = "discrete";
  uint64_t memory_mib = 0, free_mib = 0;
  uint32_t buffers = 32;
  bool allocation_fails = false, float16 = true;
};

struct Script {
  int version = 0, init_error = 0;
  std::string behaviour;
  std::vector<DeviceScript> devices;
};

inline std::string own_path() {
  Dl_info info{};
  static const char here = 0;
  return dladdr(&here, &info) != 0 ? info.dli_fname : "";
}

inline void read_line(Script& script, const std::string& name, std::istream& value) {
  if (name == "version") value >> script.version;
  if (name == "init_error") value >> script.init_error;
  if (name == "behaviour") value >> script.behaviour;
  if (name == "device") script.devices.emplace_back();
  if (script.devices.empty()) return;
  DeviceScript& device = script.devices.back();
  if (name == "name") std::getline(value >> std::ws, device.name);
  if (name == "architecture") value >> device.architecture;
  if (name == "uuid") value >> device.uuid;
  if (name == "type") value >> device.type;
  if (name == "memory_mib") value >> device.memory_mib;
  if (name == "free_mib") value >> device.free_mib;
  if (name == "allocation_fails") value >> device.allocation_fails;
  if (name == "float16") value >> device.float16;
  if (name == "buffers") value >> device.buffers;
}

inline const Script& script() {
  static const Script read = [] {
    Script script;
    std::ifstream file(own_path() + ".script");
    std::string line, name;
    while (std::getline(file, line)) {
      std::istringstream words(line);
      if (words >> name) read_line(script, name, words);
    }
    return script;
  }();
  return read;
}

// One byte in "<library>.loads" for each time that the library is loaded.
struct LoadCounter {
  LoadCounter() { std::ofstream(own_path() + ".loads", std::ios::app) << '.'; }
};
inline const LoadCounter count_load;

// What the initialisation of a bad driver does.
inline void misbehave() {
  const std::string& behaviour = script().behaviour;
  if (behaviour == "hang")
    for (;;) pause();
  if (behaviour == "segfault") {
    std::signal(SIGSEGV, SIG_DFL);
    std::raise(SIGSEGV);
  }
  if (behaviour == "abort") {
    std::signal(SIGABRT, SIG_DFL);
    std::abort();
  }
  if (behaviour == "exit") _exit(3);
  if (behaviour == "quiet_exit") _exit(0);
  if (behaviour == "chatter") {
    std::puts("driver: hello {\"probe\": 1}");
    std::fflush(stdout);
  }
}

inline void parse_uuid(const std::string& text, unsigned char (&bytes)[16]) {
  std::memset(bytes, 0, sizeof bytes);
  std::string digits;
  for (const char c : text)
    if (c != '-') digits += c;
  for (size_t i = 0; i < 16 && 2 * i + 1 < digits.size(); ++i)
    bytes[i] = static_cast<unsigned char>(std::stoi(digits.substr(2 * i, 2), nullptr, 16));
}

inline void copy_text(const std::string& text, char* to, int length) {
  std::snprintf(to, static_cast<size_t>(length), "%s", text.c_str());
}

inline std::string pci_address(int index) {
  char text[16];
  std::snprintf(text, sizeof text, "0000:%02X:00.0", index + 3);
  return text;
}

}  // namespace sotto::test::fake

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))
