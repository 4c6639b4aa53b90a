// Models, what they may know, and the devices they run on.
#include <nlohmann/json.hpp>

#include "capi/guard.h"
#include "capi/handles.h"
#include "device/detect.h"
#include "device/device_json.h"
#include "device/doctor.h"
#include "device/self_test.h"
#include "engine/bench.h"
#include "model/convert.h"
#include "model/store.h"

using namespace sotto::capi;
using sotto::Error;
using sotto::ErrorCode;

extern "C" {

sotto_status sotto_model_open(const sotto_options* options, sotto_model** out) {
  return guard([&] {
    require(out, "out");
    *out = new sotto_model(options_or_defaults(options), options == nullptr ? "" : options->device_origin);
  });
}

void sotto_model_close(sotto_model* model) {
  delete model;
}
const char* sotto_model_name(const sotto_model* model) {
  return model == nullptr ? "" : model->model.name().c_str();
}
const char* sotto_model_device(const sotto_model* model) {
  return model == nullptr ? "" : model->model.placement().line.c_str();
}
int sotto_model_is_demonstration(const sotto_model* model) {
  return model != nullptr && model->model.demonstration() ? 1 : 0;
}

sotto_status sotto_model_device_record(const sotto_model* model, char** out) {
  return guard([&] {
    require(model, "model");
    require(out, "out");
    nlohmann::ordered_json record;
    for (const auto& [name, value] : model->model.placement().record) record[name] = value;
    record["memory_used"] = model->model.memory_used();
    *out = copy_text(record.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  });
}

size_t sotto_language_count(void) {
  return sotto::all_languages().size();
}
const char* sotto_language_code(size_t index) {  // the table holds string literals
  return index < sotto::all_languages().size() ? sotto::all_languages()[index].code.data() : nullptr;
}
const char* sotto_language_name(size_t index) {
  return index < sotto::all_languages().size() ? sotto::all_languages()[index].name.data() : nullptr;
}

sotto_status sotto_devices(const sotto_options* options, int refresh, char** out) {
  return guard([&] {
    require(out, "out");
    const auto timeout = sotto::probe_timeout(options_or_defaults(options));
    sotto::Catalogue catalogue = sotto::find_devices({.probe_timeout = timeout, .refresh = refresh != 0});
    recall_self_tests(catalogue, sotto::SelfTestCache(sotto::default_self_test_cache()));
    *out = copy_text(catalogue_json(catalogue));
  });
}

sotto_status sotto_doctor(const sotto_options* options, int refresh,
                          void (*on_step)(const char* step, void* user), void* user, char** out) {
  return guard([&] {
    require(out, "out");
    const sotto::Options values = options_or_defaults(options);
    const auto step = [&](const std::string& text) {
      if (on_step != nullptr) on_step(text.c_str(), user);
    };
    const sotto::Detection detection =
        sotto::detect_devices({.probe_timeout = sotto::probe_timeout(values), .refresh = refresh != 0});
    const sotto::SelfTestCache cache(sotto::default_self_test_cache());
    *out =
        copy_text(doctor_json(examine(detection, sotto::built_in_backends(), cache, values.threads, step)));
  });
}

sotto_status sotto_model_info(const char* path, char** out) {
  return guard([&] {
    require(path, "path");
    require(out, "out");
    *out = copy_text(sotto::describe_checkpoint(sotto::open_checkpoint(path)));
  });
}

sotto_status sotto_convert(const char* from, const char* to, const char* type) {
  return guard([&] {
    require(from, "from");
    require(to, "to");
    require(type, "type");
    const std::string_view name = type;
    if (name != "float32" && name != "float16" && name != "bfloat16")
      throw Error(ErrorCode::usage, "a model is converted to float32, float16 or bfloat16, not to '{}'",
                  name);
    const sotto::DType dtype = name == "float32"   ? sotto::DType::f32
                               : name == "float16" ? sotto::DType::f16
                                                   : sotto::DType::bf16;
    sotto::write_safetensors(sotto::open_checkpoint(from), to, dtype);
  });
}

sotto_status sotto_bench(const sotto_options* options, const char* shapes,
                         void (*on_step)(const char* step, void* user), void* user, char** out) {
  return guard([&] {
    require(shapes, "shapes");
    require(out, "out");
    const auto step = [&](const std::string& text) {
      if (on_step != nullptr) on_step(text.c_str(), user);
    };
    *out = copy_text(sotto::run_bench(options_or_defaults(options), shapes, step));
  });
}

}  // extern "C"
