// The C library's code, as a signal's handler has to know it.
#pragma once

namespace neuware {

/// To be called once before cannot_be_left: a handler may not look this up.
void find_c_library();

/// Whether code at frame[0], called by frame[1] and so on, is in a function of the C library that may hold one of its
/// locks: of its heap, of a stream, of the loader. Who leaves it by a jump leaves the lock taken for ever.
bool cannot_be_left(void* const* frame, int frames);

}  // namespace neuware
