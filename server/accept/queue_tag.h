// QueueTag: what a completion queue gives back when an operation has ended.
#pragma once

namespace mpsd {

// Owned by its call, and out while an operation is under way. Lives on the thread of the
// operation's queue.
class QueueTag {
 public:
  virtual ~QueueTag() = default;

  // The operation has ended; `ok` means what gRPC says of that kind of operation. May delete the
  // tag.
  virtual void Proceed(bool ok) = 0;
};

// A tag that calls one member function of its owner. Lives on the thread of its queue.
template <typename Owner, void (Owner::*Method)(bool)>
class MemberTag final : public QueueTag {
 public:
  explicit MemberTag(Owner* owner) : owner_(owner) {}
  void Proceed(bool ok) override { (owner_->*Method)(ok); }

 private:
  Owner* const owner_;
};

}  // namespace mpsd
