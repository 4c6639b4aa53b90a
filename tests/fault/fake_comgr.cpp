// Stands for AMD's code-object manager while fake_hip_without_comgr is linked; it is never where that is
// loaded.
extern "C" __attribute__((visibility("default"))) int amd_comgr_get_version() {
  return 99;
}
