// QueueTag: what a completion queue gives back.
#pragma once

namespace mpsd {

// Lives on the thread of the queue that the operation was started on.
class QueueTag {
 public:
  virtual ~QueueTag() = default;
  virtual void Proceed(bool ok) = 0;
};

// A tag that calls one member function of its owner. Lives on the owner's thread.
template <typename Owner, void (Owner::*Method)(bool)>
class MemberTag final : public QueueTag {
 public:
  explicit MemberTag(Owner* owner) : owner_(owner) {}
  void Proceed(bool ok) override { (owner_->*Method)(ok); }

 private:
  Owner* const owner_;
};

}  // namespace mpsd
