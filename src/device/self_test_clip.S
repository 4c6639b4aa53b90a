// Three seconds of samples/pico_en_short.flac as 16-bit samples at 16 kHz. SOTTO_CLIP_FILE is set by CMakeLists.txt.

  .section .rodata
  .balign 16
  .global sotto_self_test_clip_begin
  .hidden sotto_self_test_clip_begin
sotto_self_test_clip_begin:
  .incbin SOTTO_CLIP_FILE
  .global sotto_self_test_clip_end
  .hidden sotto_self_test_clip_end
sotto_self_test_clip_end:

  .section .note.GNU-stack, "", %progbits
