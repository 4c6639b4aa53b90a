// One block of rows or weights as words of 16 bytes, and its values.
#ifdef W_INT8
#define X_WORDS 1
#define W_WORDS 1
#else
#ifdef X_HALF
#define X_WORDS 1
#else
#define X_WORDS 2
#endif
#ifdef W_HALF
#define W_WORDS 1
#else
#define W_WORDS 2
#endif
#endif
layout(binding = 0, std430) readonly buffer X { uvec4 x[]; };
layout(binding = 1, std430) readonly buffer W { uvec4 w[]; };

void unpack_halves(uvec4 words, out float values[8]) {
  const vec2 a = unpackHalf2x16(words.x), b = unpackHalf2x16(words.y), c = unpackHalf2x16(words.z),
             d = unpackHalf2x16(words.w);
  values = float[8](a.x, a.y, b.x, b.y, c.x, c.y, d.x, d.y);
}

void load_x(uint block, out VALUE values[STEPS]) {
#if defined(W_INT8)
  const uvec4 words = x[block];
  values = uint[4](words.x, words.y, words.z, words.w);
#elif defined(X_HALF)
  unpack_halves(x[block], values);
#else
  const vec4 a = uintBitsToFloat(x[2 * block]), b = uintBitsToFloat(x[2 * block + 1]);
  values = float[8](a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w);
#endif
}

void load_w(uint block, out VALUE values[STEPS]) {
#if defined(W_INT8)
  const uvec4 words = w[block];
  values = uint[4](words.x, words.y, words.z, words.w);
#elif defined(W_HALF)
  unpack_halves(w[block], values);
#else
  const vec4 a = uintBitsToFloat(w[2 * block]), b = uintBitsToFloat(w[2 * block + 1]);
  values = float[8](a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w);
#endif
}
