// The values of one block that was loaded in words of 64 bits.
#ifdef W_INT8
void unpack(u64vec2 from, out uint v[4]) {
  const uvec2 a = unpack32(from.x), b = unpack32(from.y);
  v = uint[4](a.x, a.y, b.x, b.y);
}
#else
void unpack(u64vec2 from, out float v[8]) {
  const uvec2 low = unpack32(from.x), high = unpack32(from.y);
  const vec2 a = unpackHalf2x16(low.x), b = unpackHalf2x16(low.y), c = unpackHalf2x16(high.x), d = unpackHalf2x16(high.y);
  v = float[8](a.x, a.y, b.x, b.y, c.x, c.y, d.x, d.y);
}
void unpack(u64vec4 from, out float v[8]) {
  const vec2 a = uintBitsToFloat(unpack32(from.x)), b = uintBitsToFloat(unpack32(from.y)),
             c = uintBitsToFloat(unpack32(from.z)), d = uintBitsToFloat(unpack32(from.w));
  v = float[8](a.x, a.y, b.x, b.y, c.x, c.y, d.x, d.y);
}
#endif
