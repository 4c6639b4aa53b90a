/* Sotto: speech to text on your own hardware. The C API, and the only ABI.
 *
 * Ownership. Every object that a function hands out through an `out` parameter belongs to the caller and is
 * given back with the function named beside it. Strings returned as `const char*` belong to the object (or
 * the library) that returned them and live as long as it does. Strings returned through `char** out` are
 * given back with sotto_free.
 *
 * Threads. Any function may be called from any thread. One sotto_options or sotto_result is used by one
 * thread at a time; one sotto_model may be used by many at once (their work is done side by side). Callbacks
 * run on the calling thread.
 *
 * Errors. A function that can fail returns a sotto_status; sotto_last_error() then holds one sentence for
 * people, valid until the same thread's next failing call. No function prints, exits or lets an exception
 * out.
 *
 * Text is UTF-8. Times are seconds. */
#ifndef SOTTO_SOTTO_H
#define SOTTO_SOTTO_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define SOTTO_API __declspec(dllexport)
#else
#define SOTTO_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum sotto_status {
  SOTTO_OK = 0,
  SOTTO_ERROR_USAGE = 1,       /* an argument or option makes no sense */
  SOTTO_ERROR_IO = 2,          /* a file could not be read or written */
  SOTTO_ERROR_MODEL = 3,       /* a model is damaged, incomplete or of an unknown kind */
  SOTTO_ERROR_AUDIO = 4,       /* the input holds no usable audio */
  SOTTO_ERROR_UNSUPPORTED = 5, /* valid, but this build, device or model cannot do it */
  SOTTO_ERROR_MEMORY = 6,
  SOTTO_CANCELLED = 7, /* a callback asked to stop; a result with what is done so far is still given */
  SOTTO_ERROR_DEVICE = 8,
  SOTTO_ERROR_INTERNAL = 9
} sotto_status;

SOTTO_API const char* sotto_version(void);
SOTTO_API const char* sotto_last_error(void);
SOTTO_API void sotto_free(char* text);

/* ---- messages ---- */
typedef enum sotto_log_level {
  SOTTO_LOG_DEBUG = 0,
  SOTTO_LOG_INFO = 1,
  SOTTO_LOG_WARNING = 2,
  SOTTO_LOG_ERROR = 3
} sotto_log_level;
typedef void (*sotto_log_callback)(sotto_log_level level, const char* text, void* user);
SOTTO_API void sotto_set_log(sotto_log_callback callback, void* user); /* NULL: silence, the default */

/* ---- options: one list for the program, the bindings and the documentation ---- */
typedef struct sotto_options sotto_options;
typedef enum sotto_option_type {
  SOTTO_OPTION_BOOL = 0, /* "true" or "false" */
  SOTTO_OPTION_INT = 1,
  SOTTO_OPTION_NUMBER = 2,
  SOTTO_OPTION_TEXT = 3
} sotto_option_type;
typedef struct sotto_option_info {
  const char* name;  /* "beam-size" */
  const char* group; /* "Model", "Decoding", "Audio" */
  sotto_option_type type;
  const char* default_value; /* as text */
  const char* choices;       /* comma-separated, or "" when anything of the type goes */
  const char* help;          /* one sentence */
} sotto_option_info;
SOTTO_API size_t sotto_option_count(void);
SOTTO_API sotto_status sotto_option_at(size_t index, sotto_option_info* out);
SOTTO_API sotto_status sotto_options_new(sotto_options** out); /* all defaults; sotto_options_free */
SOTTO_API void sotto_options_free(sotto_options* options);
SOTTO_API sotto_status sotto_options_set(sotto_options* options, const char* name, const char* value);
SOTTO_API sotto_status sotto_options_get(const sotto_options* options, const char* name, char** out);

/* Fills in what the user has configured, for every option that sotto_options_set has not set: from the
 * configuration files (system, user, ./sotto.toml), ./.env and the environment (SOTTO_DEVICE, GPU_BACKEND,
 * USE_CUDA), later ones winning. See docs/configuration.md. Without this call nothing of that is read. */
SOTTO_API sotto_status sotto_options_configure(sotto_options* options);

/* ---- models ---- */
typedef struct sotto_model sotto_model;
/* Uses the options model, device, fallback, probe-timeout, compute-type, threads and batch-size. A device
 * that cannot be used gives way to the CPU with a warning in the log, or with fallback off is
 * SOTTO_ERROR_DEVICE. */
SOTTO_API sotto_status sotto_model_open(const sotto_options* options,
                                        sotto_model** out); /* sotto_model_close */
SOTTO_API void sotto_model_close(sotto_model* model);
SOTTO_API const char* sotto_model_name(const sotto_model* model);   /* "nano", or the path as given */
SOTTO_API const char* sotto_model_device(const sotto_model* model); /* one line for people */
SOTTO_API int sotto_model_is_demonstration(
    const sotto_model* model); /* 1: the small model of the program itself */

/* ---- transcribing ---- */
typedef struct sotto_segment {
  double start;
  double end;
  const char* text;
} sotto_segment;
typedef struct sotto_callbacks {
  size_t size; /* sizeof(sotto_callbacks): lets later versions add members */
  void* user;
  void (*on_segment)(const sotto_segment* segment, void* user);
  void (*on_progress)(double seconds_done, double seconds_total, void* user); /* total < 0: unknown */
  int (*should_stop)(void* user); /* nonzero ends the work early */
} sotto_callbacks;
typedef struct sotto_result sotto_result;

/* path "-" is standard input. options and callbacks may be NULL. With SOTTO_OK and SOTTO_CANCELLED *out is
 * set. */
SOTTO_API sotto_status sotto_transcribe_file(sotto_model* model, const char* path,
                                             const sotto_options* options, const sotto_callbacks* callbacks,
                                             sotto_result** out);
/* Mono float samples at 16 kHz. */
SOTTO_API sotto_status sotto_transcribe_samples(sotto_model* model, const float* samples, size_t count,
                                                const sotto_options* options,
                                                const sotto_callbacks* callbacks, sotto_result** out);
SOTTO_API void sotto_result_free(sotto_result* result);
SOTTO_API size_t sotto_result_segment_count(const sotto_result* result);
SOTTO_API sotto_status sotto_result_segment(const sotto_result* result, size_t index, sotto_segment* out);
SOTTO_API const char* sotto_result_language(const sotto_result* result); /* "en" */
SOTTO_API double sotto_result_duration(const sotto_result* result);      /* seconds of audio read */
SOTTO_API int sotto_result_is_complete(const sotto_result* result);

/* The transcript as a document; the formats are listed by sotto_output_format. The subtitle options apply;
 * NULL: the defaults. */
SOTTO_API size_t sotto_output_format_count(void);
SOTTO_API const char* sotto_output_format(size_t index);             /* "srt"; NULL past the end */
SOTTO_API const char* sotto_output_format_description(size_t index); /* one sentence; NULL past the end */
SOTTO_API sotto_status sotto_result_write(const sotto_result* result, const char* format,
                                          const sotto_options* options, char** out);

/* ---- devices and configuration; the answers are JSON documents; options may be NULL ---- */
/* What is there to compute on, best first, with the reason and the remedy for what cannot be used
 * (docs/gpu.md). Answers of drivers are remembered; refresh nonzero asks them again. */
SOTTO_API sotto_status sotto_devices(const sotto_options* options, int refresh, char** out);
/* Takes every device through the gates from "hardware seen" to "speed", and says for each what was tried,
 * what was seen and what to do next. */
SOTTO_API sotto_status sotto_doctor(const sotto_options* options, int refresh,
                                    void (*on_step)(const char* step, void* user), void* user, char** out);
/* Every option, its value after sotto_options_configure, and where that came from. */
SOTTO_API sotto_status sotto_configuration(const sotto_options* options, char** out);
/* A configuration file with every option as a comment. (TOML, not JSON.) */
SOTTO_API sotto_status sotto_example_configuration(char** out);

/* ---- tools; the answers are JSON documents ---- */
SOTTO_API sotto_status sotto_model_info(const char* path, char** out);
/* Writes the model at `from` as one self-describing safetensors file. type: float32, float16 or bfloat16. */
SOTTO_API sotto_status sotto_convert(const char* from, const char* to, const char* type);
/* Measures the machine's ceilings and what the engine reaches. shapes: comma-separated names ("tiny,base").
 */
SOTTO_API sotto_status sotto_bench(const sotto_options* options, const char* shapes,
                                   void (*on_step)(const char* step, void* user), void* user, char** out);

#ifdef __cplusplus
}
#endif
#endif
