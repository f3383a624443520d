# SPDX-License-Identifier: Apache-2.0
# The page report.html as web/build.mjs bundled it, and the engine as web/engine.mjs packed it, or empty files: see
# web/CMakeLists.txt.
    .section .rodata
    .global gradway_page_begin
    .global gradway_page_end
gradway_page_begin:
    .incbin GRADWAY_PAGE_FILE
gradway_page_end:
    .byte 0
    .global gradway_engine_begin
    .global gradway_engine_end
gradway_engine_begin:
    .incbin GRADWAY_ENGINE_FILE
gradway_engine_end:
    .byte 0
    .section .note.GNU-stack,"",%progbits
