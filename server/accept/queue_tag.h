// QueueTag: returned by a completion queue when an operation has ended.
#pragma once

namespace mpsd {

// A summary of gRPC's asynchronous interface: a call begins an operation and names a tag. When the
// operation has ended, the queue's thread gets the tag back and calls Proceed().
//
//   rpc.stream.Read(&bytes, &read_);                 // the tag is out
//   …                                                // gRPC has `bytes` and the tag
//   static_cast<QueueTag*>(tag)->Proceed(ok);        // in QueueThread::Main(): the tag is back
//
// A call must not be deleted while one of its tags is out. The class comments of InferCall,
// StreamCall and GenericCall say which tags gRPC owes them when.
//
// Owned by its call, and out while an operation is under way: at most once at a time. Lives on the
// thread of the operation's queue.
class QueueTag {
 public:
  virtual ~QueueTag() = default;

  // The operation has ended. The meaning of `ok` depends on it. False says for a read that nothing
  // more comes, for a write that the call is broken, for an arrival that the server shuts down. May
  // delete the tag.
  virtual void Proceed(bool ok) = 0;
};

// Calls one member function of its owner, so that a call has a function for each operation, and no
// switch. Lives on the thread of its queue.
//
//   MemberTag<InferCall, &InferCall::Arrived> arrived_{this};
template <typename Owner, void (Owner::*Method)(bool)>
class MemberTag final : public QueueTag {
 public:
  explicit MemberTag(Owner* owner) : owner_(owner) {}
  void Proceed(bool ok) override { (owner_->*Method)(ok); }

 private:
  Owner* const owner_;
};

}  // namespace mpsd
