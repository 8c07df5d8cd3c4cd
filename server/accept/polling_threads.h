// KeepOnPollingThreads: has gRPC do a connection's work on the threads that poll for it.
#pragma once

namespace mpsd {

// gRPC 1.51 hands a connection's work to a thread of its own, its executor, once two threads ask
// for it at a time, and the executor keeps it while there is anything to do. In overload it gets
// all connections, one after the other, and reads calls slower than clients give them up: a daemon
// that was held up for a moment serves nobody until clients send less, while the polling threads
// idle. Afterwards no connection's work goes there, and each polling thread does what it finds.
// Newer versions of gRPC have many threads for it, and are left alone.
//
// The executor itself stays: gRPC writes large answers with its help, and a polling thread that did
// the executor's part of that would stand still for ten seconds.
//
// Not for a server with one polling thread: that one would read on and leave calls unanswered.
//
// For the whole process and for good. Thread-safe.
void KeepOnPollingThreads();

}  // namespace mpsd
