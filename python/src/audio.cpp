#include <algorithm>
#include <cstring>

#include "bindings.h"

namespace sotto::python {
namespace {

// A buffer of Python's that is read where it lies.
class HeldBuffer {
 public:
  explicit HeldBuffer(const py::object& object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_C_CONTIGUOUS) != 0) throw py::error_already_set();
  }
  ~HeldBuffer() {
    const py::gil_scoped_acquire locked;
    PyBuffer_Release(&view_);
  }
  HeldBuffer(const HeldBuffer&) = delete;
  HeldBuffer& operator=(const HeldBuffer&) = delete;

  size_t size() const noexcept { return static_cast<size_t>(view_.len); }

  static int64_t read(void* buffer, size_t size, void* user) {
    auto& self = *static_cast<HeldBuffer*>(user);
    const size_t count = std::min(size, self.size() - self.position_);
    std::memcpy(buffer, static_cast<const char*>(self.view_.buf) + self.position_, count);
    self.position_ += count;
    return static_cast<int64_t>(count);
  }

  static int64_t seek(int64_t offset, sotto_seek_from from, void* user) {
    auto& self = *static_cast<HeldBuffer*>(user);
    const auto end = static_cast<int64_t>(self.size());
    const int64_t base = from == SOTTO_FROM_START ? 0
                         : from == SOTTO_FROM_END ? end
                                                  : static_cast<int64_t>(self.position_);
    const int64_t target = base + offset;
    if (target < 0 || target > end) return -1;
    self.position_ = static_cast<size_t>(target);
    return target;
  }

 private:
  Py_buffer view_{};
  size_t position_ = 0;
};

// Functions of the package: read(size) gives bytes, or None where they cannot be had; seek(offset, whence) a
// position or -1.
struct PythonReader {
  py::object read_function, seek_function;

  static int64_t read(void* buffer, size_t size, void* user) {
    const py::gil_scoped_acquire locked;
    try {
      const py::object piece = static_cast<PythonReader*>(user)->read_function(size);
      if (piece.is_none()) return -1;
      const HeldBuffer view(piece);
      if (view.size() > size) return -1;
      return HeldBuffer::read(buffer, size, const_cast<HeldBuffer*>(&view));
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable("sotto");
      return -1;
    } catch (...) {
      return -1;
    }
  }

  static int64_t seek(int64_t offset, sotto_seek_from from, void* user) {
    const py::gil_scoped_acquire locked;
    try {
      return static_cast<PythonReader*>(user)->seek_function(offset, static_cast<int>(from)).cast<int64_t>();
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable("sotto");
      return -1;
    } catch (...) {
      return -1;
    }
  }
};

AudioHandle open_file(const std::string& path, const OptionTexts& texts) {
  const auto options = make_options(texts);
  const py::gil_scoped_release unlocked;
  return {nullptr, own(sotto_audio_open_file, path.c_str(), options.get())};
}

struct StreamFacts {
  std::string name;
  int format, sample_rate, channels;
  double duration;
};

AudioHandle open_stream(std::shared_ptr<void> origin, const StreamFacts& facts,
                        decltype(sotto_audio_stream::read) read, decltype(sotto_audio_stream::seek) seek,
                        const OptionTexts& texts) {
  const auto options = make_options(texts);
  const sotto_audio_stream stream{sizeof(sotto_audio_stream),
                                  facts.name.c_str(),
                                  facts.format,
                                  facts.sample_rate,
                                  facts.channels,
                                  facts.duration,
                                  origin.get(),
                                  read,
                                  seek};
  const py::gil_scoped_release unlocked;
  return {std::move(origin), own(sotto_audio_open_stream, &stream, options.get())};
}

AudioHandle open_buffer(const py::object& buffer, const std::string& name, int format, int sample_rate,
                        int channels, double duration, const OptionTexts& texts) {
  return open_stream(std::make_shared<HeldBuffer>(buffer), {name, format, sample_rate, channels, duration},
                     HeldBuffer::read, HeldBuffer::seek, texts);
}

AudioHandle open_reader(const py::object& read, const py::object& seek, const std::string& name, int format,
                        int sample_rate, int channels, double duration, const OptionTexts& texts) {
  // Given back under the lock, whoever does it.
  const std::shared_ptr<PythonReader> reader(new PythonReader{read, seek}, [](PythonReader* last) {
    const py::gil_scoped_acquire locked;
    delete last;
  });
  return open_stream(reader, {name, format, sample_rate, channels, duration}, PythonReader::read,
                     seek.is_none() ? nullptr : PythonReader::seek, texts);
}

size_t read_into(AudioHandle& audio, const py::buffer& target) {
  const py::buffer_info info = target.request(true);
  size_t count = 0;
  const py::gil_scoped_release unlocked;
  check(sotto_audio_read(audio.handle.get(), static_cast<float*>(info.ptr), static_cast<size_t>(info.size),
                         &count));
  return count;
}

}  // namespace

void bind_audio(py::module_& module) {
  py::class_<AudioHandle>(module, "Audio")
      .def_static("open_file", open_file, py::arg("path"), py::arg("options"))
      .def_static("open_buffer", open_buffer, py::arg("buffer"), py::arg("name"), py::arg("format"),
                  py::arg("sample_rate"), py::arg("channels"), py::arg("duration"), py::arg("options"))
      .def_static("open_reader", open_reader, py::arg("read"), py::arg("seek").none(true), py::arg("name"),
                  py::arg("format"), py::arg("sample_rate"), py::arg("channels"), py::arg("duration"),
                  py::arg("options"))
      .def_property_readonly(
          "duration", [](const AudioHandle& audio) { return sotto_audio_duration(audio.handle.get()); })
      .def("read_into", read_into, py::arg("float_array"));
}

}  // namespace sotto::python
