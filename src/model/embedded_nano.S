// The small model that is part of the program, byte for byte. SOTTO_NANO_FILE is set by CMakeLists.txt.

  .section .rodata
  .balign 64
  .global sotto_nano_begin
  .hidden sotto_nano_begin
sotto_nano_begin:
  .incbin SOTTO_NANO_FILE
  .global sotto_nano_end
  .hidden sotto_nano_end
sotto_nano_end:

  .section .note.GNU-stack, "", %progbits
