#pragma once

#include <exception>
#include <new>
#include <string>

#include "base/error.h"
#include <sotto/sotto.h>

// How every call that can fail is made: no exception crosses the border.
namespace sotto::capi {

sotto_status status_of(ErrorCode code) noexcept;
sotto_status fail(sotto_status status, const char* text) noexcept;  // remembers the text for this thread

template <class Body>
sotto_status guard(Body body) noexcept {
  try {
    body();
    return SOTTO_OK;
  } catch (const Error& error) {
    return fail(status_of(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return fail(SOTTO_ERROR_MEMORY, "there is not enough memory");
  } catch (const std::exception& error) {
    return fail(SOTTO_ERROR_INTERNAL, error.what());
  } catch (...) {
    return fail(SOTTO_ERROR_INTERNAL, "an unknown error");
  }
}

void require(const void* argument, const char* name);  // throws Error(usage) for NULL

char* copy_text(const std::string& text);  // for sotto_free

}  // namespace sotto::capi
