// KeepOnPollingThreads: has gRPC do a connection's work on the threads that poll for it.
#pragma once

namespace mpsd {

// Once two threads ask for a connection's work at a time, gRPC 1.51 hands it to its executor, a
// thread that keeps it while there is anything to do. In overload the executor gets one connection
// after another, and reads calls slower than clients give them up. A daemon that was held up for a
// moment then serves nobody until clients send less, while the polling threads idle. After this
// function no connection's work goes there, and each polling thread does what it finds. Newer
// versions of gRPC have many threads for this work, and are left alone.
//
// The executor itself stays: gRPC writes large answers with its help. A polling thread in that role
// would stand still for ten seconds.
//
// Not for a server with one polling thread: it would read on and leave calls unanswered.
//
// For the whole process and for good. Thread-safe.
void KeepOnPollingThreads();

}  // namespace mpsd
