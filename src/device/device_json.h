#pragma once

#include <string>
#include <utility>
#include <vector>

#include "device/catalogue.h"
#include "device/choice.h"
#include "device/config.h"
#include "device/doctor.h"

namespace sotto {

// JSON documents for the C API; the program makes its tables from them.
std::string catalogue_json(const Catalogue& catalogue);
std::string doctor_json(const DoctorReport& report);

// Every option with its value and where it came from. `given` names those that the caller set.
std::string configuration_json(const Configuration& configuration, const Options& values,
                               const std::vector<std::string>& given);

// What a transcript says of the device it was made on.
std::vector<std::pair<std::string, std::string>> device_record(const OpenedDevice& opened);

}  // namespace sotto
