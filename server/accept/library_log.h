// SilenceLibraries: keeps clients from writing to this process's stderr through its libraries.
#pragma once

namespace mpsd {

// Protobuf writes a line for each client's text that is not UTF-8. Versions before 22 have their
// own handler for such lines, which this removes. Newer ones, and gRPC of that age, write through
// Abseil's log: from now on only the line before an abort comes through. For the whole process and
// for good. Called before the server takes calls; thread-safe.
void SilenceLibraries();

}  // namespace mpsd
