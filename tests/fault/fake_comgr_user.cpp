// Makes a fake HIP runtime need the code-object manager.
extern "C" int amd_comgr_get_version();
extern "C" __attribute__((visibility("default"))) int fake_hip_comgr_version() {
  return amd_comgr_get_version();
}
