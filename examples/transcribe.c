/* Prints the text of one file as it is found: transcribe FILE [MODEL] */
#include <stdio.h>

#include <sotto/sotto.h>

static void print_segment(const sotto_segment* segment, void* user) {
  (void)user;
  printf("[%6.2f - %6.2f]%s\n", segment->start, segment->end, segment->text);
}

static void print_message(sotto_log_level level, const char* text, void* user) {
  (void)user;
  if (level >= SOTTO_LOG_WARNING) fprintf(stderr, "%s\n", text);
}

static sotto_status transcribe(const char* file, const char* model_name) {
  sotto_options* options = NULL;
  sotto_model* model = NULL;
  sotto_result* result = NULL;
  sotto_callbacks callbacks = {0};
  callbacks.size = sizeof callbacks;
  callbacks.on_segment = print_segment;

  sotto_status status = sotto_options_new(&options);
  if (status == SOTTO_OK) status = sotto_options_set(options, "model", model_name);
  if (status == SOTTO_OK) status = sotto_model_open(options, &model);
  if (status == SOTTO_OK) status = sotto_transcribe_file(model, file, options, &callbacks, &result);
  if (status == SOTTO_OK)
    printf("%.1f s of %s\n", sotto_result_duration(result), sotto_result_language(result));
  sotto_result_free(result);
  sotto_model_close(model);
  sotto_options_free(options);
  return status;
}

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: transcribe FILE [MODEL]\n");
    return 2;
  }
  sotto_set_log(print_message, NULL);
  if (transcribe(argv[1], argc > 2 ? argv[2] : "nano") == SOTTO_OK) return 0;
  fprintf(stderr, "%s\n", sotto_last_error());
  return 1;
}
