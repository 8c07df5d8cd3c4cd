#include "client/hub/blob_writer.h"

#include <openssl/evp.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "client/hub/disk_hint.h"
#include "proto/base/check.h"
#include "proto/base/platform.h"

namespace mpsd::hub {
namespace {

constexpr size_t kMostPieces = 32;
constexpr uint64_t kDiskBytes = 8 << 20;  // told to the disk at once
constexpr size_t kReadBytes = 1 << 20;

absl::Status DiskFault(const char* what) {
  return absl::DataLossError(
      absl::StrCat("cannot ", what, " the cache: ", std::generic_category().message(errno)));
}

}  // namespace

constexpr size_t kSha256Digits = 64;

ContentHash::ContentHash(absl::string_view id, uint64_t bytes) : context_(EVP_MD_CTX_new()) {
  MPSD_CHECK(context_ != nullptr);
  const bool is_sha256 = id.size() == kSha256Digits;
  MPSD_CHECK(EVP_DigestInit_ex(context_, is_sha256 ? EVP_sha256() : EVP_sha1(), nullptr) == 1);
  if (!is_sha256) {
    std::string head = absl::StrCat("blob ", bytes);
    head.push_back('\0');
    Add(head);
  }
}

ContentHash::~ContentHash() { EVP_MD_CTX_free(context_); }

void ContentHash::Add(absl::string_view piece) {
  MPSD_CHECK(EVP_DigestUpdate(context_, piece.data(), piece.size()) == 1);
}

std::string ContentHash::Finish() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  MPSD_CHECK(EVP_DigestFinal_ex(context_, digest, &size) == 1);
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest), size));
}

BlobWriter::BlobWriter(int fd, uint64_t from, const std::string& id, uint64_t bytes,
                       PiecePool* pool)
    : fd_(fd),
      from_(from),
      pool_(pool),
      offset_(from),
      disk_offset_(from),
      hash_(id, bytes),
      thread_([this] { Work(); }) {}

BlobWriter::~BlobWriter() {
  {
    absl::MutexLock lock(&mu_);
    ends_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

bool BlobWriter::HasRoom() const { return pieces_.size() < kMostPieces || !status_.ok(); }

absl::Status BlobWriter::Add(std::string piece) {
  if (absl::Status status = Write(piece); !status.ok()) return status;
  absl::MutexLock lock(&mu_);
  mu_.Await(absl::Condition(this, &BlobWriter::HasRoom));
  if (status_.ok()) pieces_.push_back(std::move(piece));
  return status_;
}

absl::StatusOr<std::string> BlobWriter::Finish() {
  {
    absl::MutexLock lock(&mu_);
    ends_ = true;
  }
  thread_.join();
  absl::MutexLock lock(&mu_);
  if (!status_.ok()) return status_;
  return hash_.Finish();
}

absl::Status BlobWriter::HashBegin() {
  std::string piece(kReadBytes, '\0');
  for (uint64_t at = 0; at < from_;) {
    const size_t wanted = static_cast<size_t>(std::min<uint64_t>(kReadBytes, from_ - at));
    const ssize_t count = pread(fd_, piece.data(), wanted, static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return DiskFault("read");
    hash_.Add(absl::string_view(piece.data(), static_cast<size_t>(count)));
    at += static_cast<uint64_t>(count);
  }
  return absl::OkStatus();
}

absl::Status BlobWriter::Write(absl::string_view piece) {
  while (!piece.empty()) {
    const ssize_t count = pwrite(fd_, piece.data(), piece.size(), static_cast<off_t>(offset_));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return DiskFault("write");
    piece.remove_prefix(static_cast<size_t>(count));
    offset_ += static_cast<uint64_t>(count);
  }
  if (offset_ - disk_offset_ >= kDiskBytes) {
    BeginToStore(fd_, disk_offset_, offset_ - disk_offset_);
    disk_offset_ = offset_;
  }
  return absl::OkStatus();
}

void BlobWriter::Work() {
  platform::NameThread("hub-hash");
  if (const absl::Status status = HashBegin(); !status.ok()) {
    absl::MutexLock lock(&mu_);
    status_ = status;
    return;
  }
  while (true) {
    std::string piece;
    {
      absl::MutexLock lock(&mu_);
      mu_.Await(absl::Condition(this, &BlobWriter::HasWorkOrEnds));
      if (pieces_.empty()) return;
      piece = std::move(pieces_.front());
      pieces_.pop_front();
    }
    hash_.Add(piece);
    pool_->Put(std::move(piece));
  }
}

}  // namespace mpsd::hub
