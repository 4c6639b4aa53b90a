/* Sotto: speech to text on your own hardware. The C API, and the only ABI.
 *
 * Ownership. Every object that a function hands out through an `out` parameter belongs to the caller and is
 * given back with the function named beside it; giving back NULL does nothing. What is returned as `const`
 * pointer belongs to the object (or the library) that returned it and lives as long as it does; what a
 * callback is given lives until the callback returns. Strings returned through `char** out` are given back
 * with sotto_free. After a failure nothing has been handed out.
 *
 * Threads. Any function may be called from any thread. One sotto_options, sotto_audio or sotto_result is used
 * by one thread at a time; one sotto_model may be used by many at once (their work is done side by side), and
 * is closed when the last of them has returned. Callbacks run on the thread that made the call, except that
 * of the log, which may be called from any thread. A callback must return; it may not throw, and may not
 * close what is being used.
 *
 * Errors. A function that can fail returns a sotto_status; sotto_last_error() then holds one sentence for
 * people, valid until the same thread's next failing call. No function prints, exits or lets an exception
 * out.
 *
 * Versions. A struct that the caller fills in begins with its size, and a struct that the library hands out
 * by pointer may grow at its end, so a program goes on working with a later library.
 *
 * Text is UTF-8. Times are seconds. */
#ifndef SOTTO_SOTTO_H
#define SOTTO_SOTTO_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32) && defined(SOTTO_BUILDS_LIBRARY)
#define SOTTO_API __declspec(dllexport)
#elif defined(_WIN32)
#define SOTTO_API __declspec(dllimport)
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
/* Where the model computes, as a JSON object: id, kind, name, architecture, compute_type, driver, why, and
 * memory_used in bytes (on the CPU that of the weights). */
SOTTO_API sotto_status sotto_model_device_record(const sotto_model* model, char** out);

/* ---- languages that Whisper models may know; sotto_model_info says which ones a model does ---- */
SOTTO_API size_t sotto_language_count(void);
SOTTO_API const char* sotto_language_code(size_t index); /* "de"; NULL past the end */
SOTTO_API const char* sotto_language_name(size_t index); /* "german"; NULL past the end */

/* ---- audio ---- */
typedef struct sotto_audio sotto_audio; /* one input, read once from its start to its end */
typedef enum sotto_audio_format {
  SOTTO_AUDIO_FILE = 0, /* the bytes of an audio or video file of any kind */
  SOTTO_AUDIO_U8 = 1,   /* raw samples in the machine's byte order, channels taking turns ... */
  SOTTO_AUDIO_S16 = 2,
  SOTTO_AUDIO_S32 = 3,
  SOTTO_AUDIO_F32 = 4, /* ... full scale is 1 */
  SOTTO_AUDIO_F64 = 5
} sotto_audio_format;
typedef enum sotto_seek_from {
  SOTTO_FROM_START = 0,
  SOTTO_FROM_HERE = 1,
  SOTTO_FROM_END = 2
} sotto_seek_from;
typedef struct sotto_audio_stream {
  size_t size;      /* sizeof(sotto_audio_stream) */
  const char* name; /* for messages and the result; NULL: none */
  int format;       /* a sotto_audio_format */
  int sample_rate;  /* of raw samples, in Hz */
  int channels;     /* of raw samples */
  double duration;  /* of raw samples, in seconds; < 0: unknown */
  void* user;
  /* Puts up to `size` bytes into the buffer and returns how many; 0: the end; < 0: they cannot be had. */
  int64_t (*read)(void* buffer, size_t size, void* user);
  /* The new position from the start, or < 0. NULL: cannot seek. Some files need it (MP4 with its index last).
   */
  int64_t (*seek)(int64_t offset, sotto_seek_from from, void* user);
} sotto_audio_stream;
/* path "-" is standard input. Of the options track and channel are used; NULL: the defaults. */
SOTTO_API sotto_status sotto_audio_open_file(const char* path, const sotto_options* options,
                                             sotto_audio** out); /* sotto_audio_close */
/* The functions are called by whoever reads the audio, until it is closed. */
SOTTO_API sotto_status sotto_audio_open_stream(const sotto_audio_stream* stream, const sotto_options* options,
                                               sotto_audio** out); /* sotto_audio_close */
SOTTO_API void sotto_audio_close(sotto_audio* audio);
SOTTO_API double sotto_audio_duration(
    const sotto_audio* audio); /* seconds, as its container says; < 0: unknown */
/* The next samples, mono at 16 kHz. *read is less than count only at the end. */
SOTTO_API sotto_status sotto_audio_read(sotto_audio* audio, float* samples, size_t count, size_t* read);

/* ---- transcribing ---- */
typedef struct sotto_word {
  double start;
  double end;
  const char* text; /* as decoded, with its leading space */
  double probability;
} sotto_word;
typedef struct sotto_segment {
  int id; /* from 0 */
  double start;
  double end;
  const char* text;     /* as decoded, with its leading space */
  const char* language; /* "en" */
  const int* tokens;
  size_t token_count;
  const sotto_word* words; /* where the option word-timestamps asked for them */
  size_t word_count;
  double temperature;
  double average_log_probability;
  double compression_ratio;
  double no_speech_probability;
  /* How far it can be relied on; see docs/output.md. */
  double language_probability;
  int attempts;
  double uncovered_speech;
  const char* suspect; /* why not to rely on it; "": nothing is known against it */
} sotto_segment;
typedef struct sotto_language {
  const char* code;
  double probability;
} sotto_language;
typedef struct sotto_callbacks {
  size_t size; /* sizeof(sotto_callbacks) */
  void* user;
  void (*on_segment)(const sotto_segment* segment, void* user);
  void (*on_progress)(double seconds_done, double seconds_total, void* user); /* total < 0: unknown */
  int (*should_stop)(void* user); /* asked some 50 times a second; nonzero ends the work early */
  /* Where the language is found out: what a window was heard to be, likeliest first. */
  void (*on_language)(const sotto_language* languages, size_t count, void* user);
} sotto_callbacks;
typedef struct sotto_result sotto_result; /* sotto_result_free */

/* options and callbacks may be NULL. With SOTTO_OK and SOTTO_CANCELLED *out is set. The audio has been read
 * afterwards, and can only be closed. */
SOTTO_API sotto_status sotto_transcribe(sotto_model* model, sotto_audio* audio, const sotto_options* options,
                                        const sotto_callbacks* callbacks, sotto_result** out);
/* sotto_audio_open_file, sotto_transcribe, sotto_audio_close. */
SOTTO_API sotto_status sotto_transcribe_file(sotto_model* model, const char* path,
                                             const sotto_options* options, const sotto_callbacks* callbacks,
                                             sotto_result** out);
/* The same with mono float samples at 16 kHz. */
SOTTO_API sotto_status sotto_transcribe_samples(sotto_model* model, const float* samples, size_t count,
                                                const sotto_options* options,
                                                const sotto_callbacks* callbacks, sotto_result** out);
SOTTO_API void sotto_result_free(sotto_result* result);
SOTTO_API size_t sotto_result_segment_count(const sotto_result* result);
SOTTO_API const sotto_segment* sotto_result_segment(const sotto_result* result,
                                                    size_t index);       /* NULL past the end */
SOTTO_API const char* sotto_result_language(const sotto_result* result); /* "en" */
SOTTO_API double sotto_result_language_probability(const sotto_result* result);
SOTTO_API double sotto_result_duration(const sotto_result* result); /* seconds of audio read */
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
