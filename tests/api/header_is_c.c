/* The header compiles as C11, and a program in C can call the library. */
#include <string.h>

#include <sotto/sotto.h>

int main(void) {
  sotto_options* options = NULL;
  if (sotto_options_new(&options) != SOTTO_OK) return 1;
  if (sotto_options_set(options, "threads", "x") != SOTTO_ERROR_USAGE) return 2;
  if (strlen(sotto_last_error()) == 0) return 3;
  sotto_options_free(options);
  return strlen(sotto_version()) == 0 ? 4 : 0;
}
