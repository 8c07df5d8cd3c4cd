#!/usr/bin/env python3
"""What newer gRPC, protobuf, Abseil and OpenSSL no longer have is used only where it is asked for first.

CI builds with Debian 12's libraries, which still have all of it; those of Debian 13, Ubuntu 24.04
and Homebrew have not.
"""
import re
import sys

import tree

FOLDERS = ("proto", "text", "server", "worker", "copier", "client", "load_tests", "tests")
GONE = {
    "protobuf 22": r"<google/protobuf/stubs/|\b(?:SetLogHandler|LogSilencer|GOOGLE_D?CHECK|"
                   r"GOOGLE_LOG)\b|\bprotobuf::(?:u?int(?:8|16|32|64)|StringPiece)\b",
    "protobuf 26": r"\b(?:always_print_primitive_fields|AddCleared|ClearedCount|ReleaseCleared|"
                   r"SupportsUnknownEnumValues|SYNTAX_PROTO[23])\b",
    "protobuf 36": r"\b(?:GetEnum|GetRepeatedEnum)\b",
    "gRPC 1.66": r"\b(?:gpr_log\w*|gpr_set_log_\w+|gpr_should_log|GPR_ASSERT|GPR_DEBUG_ASSERT|"
                 r"GPR_ERROR|GPR_INFO|GPR_DEBUG)\b",
    "gRPC 1.83": r"<grpcpp/test/",
    "Abseil 20260817": r"\babsl::HexStringToBytes\b",
    "OpenSSL 4": r"(?<!const )\bX509_NAME\s*\*\s*(?:const\s+)?\w+\s*=\s*X509_get_\w+",
    "any Abseil": r"<absl/\w+/internal/|\babsl::\w+_internal::",
}
PATTERNS = {since: re.compile(pattern) for since, pattern in GONE.items()}
# Newer protobufs want the result to be looked at; a stream to skip in is one of theirs.
UNREAD = re.compile(r"[;{})]\s*((?:\w+(?:\(\))?(?:\.|->))+(?:Parse|Serialize)\w*(?:From|To)\w+|"
                    r"\w*stream->Skip)\(")
COMMENT = re.compile(r"//[^\n]*")
TEXT = re.compile(r'^(#include\s+"[^"\n]*")|"(?:[^"\\\n]|\\.)*"', re.MULTILINE)
# A header that is asked for: what stands there is for the libraries that have it.
ASKED = re.compile(r"^#if __has_include\(.*?^#(?:else|endif)", re.MULTILINE | re.DOTALL)


def code_of(text):
    """The text without comments and texts, and without what is asked for; with all its lines."""
    text = TEXT.sub(lambda match: match[1].replace('"', "<", 1) if match[1] else '""',
                    COMMENT.sub("", text))
    return ASKED.sub(lambda match: "\n" * match[0].count("\n"), text)


def check(root):
    complaints = []
    for path, text in tree.sources(root, FOLDERS):
        code = code_of(text)
        for since, pattern in PATTERNS.items():
            for match in pattern.finditer(code):
                complaints.append(f"{path}:{tree.line_of(code, match.start())}: '{match[0]}' is "
                                  f"not there for certain since {since}")
        for match in UNREAD.finditer(code):
            complaints.append(f"{path}:{tree.line_of(code, match.start(1))}: the result of "
                              f"{match[1]}() is not looked at")
    return complaints


def self_test():
    def planted(text, *wanted):
        tree.expect(check, {"server/a.cc": text}, *wanted)

    include = "#include <google/protobuf/stubs/logging.h>\n"
    call = "void F() { google::protobuf::SetLogHandler(nullptr); }\n"
    asks = "#if __has_include(<google/protobuf/stubs/logging.h>)\n"
    planted(asks + include + "#endif\n" + asks + call + "#else\nvoid F() {}\n#endif\n")
    planted("void F() { stream->Skip(4); }\n", "server/a.cc:1: the result of stream->Skip() is not")
    planted("X509_NAME* name = X509_get_subject_name(x);\n", "server/a.cc:1: 'X509_NAME* name = X509")
    planted("const X509_NAME* name = X509_get_subject_name(x);\n")
    planted(include, "server/a.cc:1: '<google/protobuf/stubs/' is not there for certain since prot")
    planted(asks + include + "#endif\n" + call, "server/a.cc:4: 'SetLogHandler'")
    planted(asks + include + "#else\n" + call + "#endif\n", "server/a.cc:4: 'SetLogHandler'")
    planted("google::protobuf::int64 x;\nint y; // gpr_log()\n", "a.cc:1: 'protobuf::int64'")
    planted('Say("gpr_log");\ngpr_log(GPR_INFO, "x");\n', "a.cc:2: 'gpr_log'", "2: 'GPR_INFO'")
    planted("options.always_print_primitive_fields = true;\n", "since protobuf 26")
    planted('#include "absl/strings/internal/escaping.h"\n', "'<absl/strings/internal/'")
    planted("absl::strings_internal::Utf8(x);\n", "a.cc:1: 'absl::strings_internal::'")
    planted("gpr_now(GPR_CLOCK_MONOTONIC);\nconst bool read =\n    a.ParseFromString(x);\n"
            "EXPECT_TRUE(a.b().SerializeToString(&x));\nreturn a->ParseFromArray(x, 1);\n")
    planted("F();\n  a.b()->ParseFromString(x);\n", "a.cc:2: the result of a.b()->ParseFromStr")
    planted("if (x) a.SerializeToString(&y);\n", "a.cc:1: the result of a.SerializeToString()")


if __name__ == "__main__":
    sys.exit(tree.main(check, self_test))
