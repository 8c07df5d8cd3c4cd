// SilenceLibraries: keeps clients from writing to this process's stderr through its libraries.
#pragma once

namespace mpsd {

// Protobuf writes a line for each text of a client that is not UTF-8. Its versions before 22 have a
// handler of their own for such lines, which this takes away. Newer ones, and gRPC of that age,
// write through Abseil's log: from now on only the line before an abort comes through. For the
// whole process and for good. Called before the server takes calls; thread-safe.
void SilenceLibraries();

}  // namespace mpsd
