#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string_view>

#include "model/reader.h"

namespace sotto {

// The entries of a zip archive by name, as they lie in the file: only stored (uncompressed, unencrypted)
// entries are accepted, which is how PyTorch writes. The central directory must agree with the entries' own
// headers, and no two entries may share bytes. Nothing is extracted.
using ZipEntries = std::map<std::string_view, std::span<const std::byte>>;
ZipEntries read_zip(const NamedBytes& file);

}  // namespace sotto
