// Sums and maxima over a workgroup, in an order that depends on nothing but the device. LOCAL is a power of two.
shared float reduce_partial[LOCAL];

#ifdef SUBGROUPS
// Within the subgroups first, whatever their size is, then over their results.
#define REDUCE(name, in_subgroup, combine)                                     \
  float name(float value) {                                                    \
    value = in_subgroup(value);                                                \
    if (subgroupElect()) reduce_partial[gl_SubgroupID] = value;                \
    barrier();                                                                 \
    float all = reduce_partial[0];                                             \
    for (uint i = 1; i < gl_NumSubgroups; ++i) all = combine(all, reduce_partial[i]); \
    barrier();                                                                 \
    return all;                                                                \
  }
#else
#define REDUCE(name, in_subgroup, combine)                                     \
  float name(float value) {                                                    \
    const uint lane = gl_LocalInvocationIndex;                                 \
    reduce_partial[lane] = value;                                              \
    barrier();                                                                 \
    for (uint half_size = LOCAL / 2; half_size > 0; half_size /= 2) {          \
      if (lane < half_size)                                                    \
        reduce_partial[lane] = combine(reduce_partial[lane], reduce_partial[lane + half_size]); \
      barrier();                                                               \
    }                                                                          \
    const float all = reduce_partial[0];                                       \
    barrier();                                                                 \
    return all;                                                                \
  }
#endif
float add_two(float a, float b) { return a + b; }
float larger_of(float a, float b) { return max(a, b); }
REDUCE(workgroup_sum, subgroupAdd, add_two)
REDUCE(workgroup_max, subgroupMax, larger_of)
