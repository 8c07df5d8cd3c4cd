#include "server/admit/admission.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "proto/base/check.h"
#include "proto/base/limits.h"
#include "server/admit/padding.h"
#include "server/admit/validator.h"
#include "server/request/retry_info.h"
#include "server/request/served_model.h"
#include "server/request/token_rows.h"
#include "server/texts/text_step.h"

namespace mpsd {
namespace {

// A model is not replaced more often meanwhile.
constexpr int kMostLooks = 3;

// The client's limit by a parameter, which never extends the deadline; 0: none.
int64_t ClientsTimeoutNs(const InferMessage& message, const QueuePolicy& policy) {
  const bool says_one = message.timeout_us > 0 && message.timeout_us < kMaxTimeoutNs / kNsPerUs;
  const bool counts = policy.timeout_ns == 0 || policy.allow_timeout_override;
  return says_one && counts ? message.timeout_us * kNsPerUs : 0;
}

// The rest of the call, in rows like this request's. A shorter row counts as a part of a row, a
// longer one as one row. A request that is tried with another generation takes its rows off twice,
// so the result is never more than there is.
uint32_t RowsBehind(const TextWishes& texts, uint32_t rows) {
  if (texts.call_rows == nullptr || texts.own_work == 0) return 0;
  const auto own_work = static_cast<int64_t>(texts.own_work);
  CallRows& call = *texts.call_rows;
  const int64_t left = call.rows.fetch_sub(rows, std::memory_order_relaxed) - rows;
  const int64_t work = call.work.fetch_sub(own_work, std::memory_order_relaxed) - own_work;
  const int64_t by_work = work * rows / own_work;
  return static_cast<uint32_t>(std::clamp<int64_t>(std::min(left, by_work), 0, UINT32_MAX));
}

// If the request yields instead of ending, the client's parameter only says how soon.
void ApplyPolicy(const QueuePolicy& policy, const InferMessage& message, Request* request) {
  const int64_t client_ns = ClientsTimeoutNs(message, policy);
  int64_t wait_ns = policy.timeout_ns;
  request->yields = wait_ns > 0 && policy.timeout_action == TimeoutAction::kDelay;
  if (request->yields && client_ns > 0) {
    wait_ns = std::min(wait_ns, client_ns);
  } else if (client_ns > 0) {
    request->deadline_ns = std::min(request->deadline_ns, request->arrival_ns + client_ns);
    request->patience_ns = 0;
  }
  if (wait_ns > 0) request->LimitWait(request->arrival_ns + wait_ns);
}

// The steps of a request inside go on while the server exits.
absl::Status CheckServing(ServingStage stage, const Request& request) {
  if (request.is_step) return absl::OkStatus();
  if (stage == ServingStage::kStarting) return absl::UnavailableError("Server not ready");
  if (stage == ServingStage::kExiting) return absl::UnavailableError("Server exiting");
  return absl::OkStatus();
}

bool HasTokens(const Request& request, const ServedModel& model) {
  return request.tokens != nullptr && model.texts.ok() && request.tokens->encoder == *model.texts;
}

uint64_t BytesToEncode(const InferMessage& message, const ServedModel& model,
                       const Request& request) {
  return HasTexts(message, model) && !HasTokens(request, model) ? TextBytes(message, model) : 0;
}

bool IsArriving(const RequestInput& input) {
  return input.payload != nullptr && input.payload->arriving_bytes > 0;
}

absl::Status CheckArriving(const ServedModel& model, bool may_be_kept, const Request& request) {
  const auto input = absl::c_find_if(request.inputs, IsArriving);
  MPSD_CHECK(input != request.inputs.end());
  const bool has_all = !may_be_kept && input->dims == input->padded_dims;
  if (has_all && model.queue->RowsFor(request) != nullptr) return absl::OkStatus();
  return absl::UnavailableError("the request is admitted once it is whole");
}

// Texts may have to be encoded again, and arriving requests wait for nobody.
bool MayJoin(const RequestBunch* bunch, const RowQueue* queue, const Request& request) {
  if (bunch == nullptr || queue == nullptr) return false;
  if (request.is_arriving || request.tokens != nullptr) return false;
  uint64_t bytes = 0;
  for (const RequestInput& input : request.inputs) bytes += input.Bytes(request.rows);
  return bytes <= RequestBunch::kMostBytes;
}

absl::Span<char> RestOf(const Request& request, const RowTargets& targets) {
  const auto input = absl::c_find_if(request.inputs, IsArriving);
  const Payload& payload = *input->payload;
  char* const first = targets.inputs[static_cast<size_t>(input - request.inputs.begin())];
  return {first + (payload.bytes - payload.arriving_bytes), payload.arriving_bytes};
}

// The request's former tokens no longer count for its call.
void Uncount(const InferMessage& message, const Request& request) {
  if (message.texts.call_tokens == nullptr) return;
  message.texts.call_tokens->fetch_sub(request.token_count, std::memory_order_relaxed);
}

}  // namespace

Handled Admission::Handle(const InferMessage& message, Request* request) {
  Handled handled = Handled::kCopied;
  absl::Status status = Admit(message, request, &handled);
  // A queue that was closed after the look-up has a successor.
  for (int look = 1; absl::IsAborted(status) && look < kMostLooks; ++look) {
    Uncount(message, *request);
    request->ForgetModel();
    status = Admit(message, request, &handled);
  }
  if (absl::IsAborted(status)) status = absl::UnavailableError(status.message());
  if (!status.ok()) request->reply.Fail(status);
  return handled;
}

bool Admission::AdmitArriving(const InferMessage& message, Request* request) {
  request->is_arriving = true;
  Handled handled = Handled::kCopied;
  if (Admit(message, request, &handled).ok() && request->queue != nullptr) return true;
  request->ForgetModel();
  return false;
}

void Admission::EnterAll(RequestBunch* bunch) {
  if (!bunch->requests.empty()) EnterTogether(bunch);
}

void Admission::Join(const InferMessage& message, RowQueue* queue, Request* request) {
  RequestBunch* const bunch = request->bunch;
  if (bunch->requests.size() == RequestBunch::kMost) EnterTogether(bunch);
  EnteringRequest& entering = bunch->requests.emplace_back();
  entering.queue = queue;
  entering.request = request;
  entering.message = &message;
}

void Admission::EnterTogether(RequestBunch* bunch) {
  std::vector<EnteringRequest> requests = std::exchange(bunch->requests, {});
  const auto by_queue = [](const EnteringRequest& one, const EnteringRequest& other) {
    return std::less<>()(one.queue, other.queue);
  };
  const bool is_sorted = std::is_sorted(requests.begin(), requests.end(), by_queue);
  if (!is_sorted) std::stable_sort(requests.begin(), requests.end(), by_queue);
  for (auto first = requests.begin(); first != requests.end();) {
    const auto last = std::upper_bound(first, requests.end(), *first, by_queue);
    EnterQueue(absl::MakeSpan(&*first, static_cast<size_t>(last - first)));
    first = last;
  }
  requests.clear();
  bunch->requests = std::move(requests);  // with its memory
}

void Admission::EnterQueue(absl::Span<EnteringRequest> requests) {
  RowQueue* const queue = requests.front().queue;
  queue->ReserveAll(requests);
  absl::InlinedVector<Request*, RequestBunch::kMost> filled;
  for (const EnteringRequest& entering : requests) {
    if (!entering.status.ok() || entering.targets.later) continue;
    Request* const request = entering.request;
    writer_.Fill(request->model->spec, *request, entering.targets);
    filled.push_back(request);
  }
  if (!filled.empty()) queue->CommitAll(filled);
  for (const EnteringRequest& entering : requests) {
    if (!entering.status.ok()) EnterAgain(entering);
  }
}

// The queue has refused the request, or has a successor, or had no room before the others' batches.
void Admission::EnterAgain(const EnteringRequest& entering) {
  Request* const request = entering.request;
  const InferMessage& message = *entering.message;
  if (!absl::IsAborted(entering.status)) {
    return request->reply.Fail(WithId(entering.status, message.id));
  }
  request->bunch = nullptr;
  request->ForgetModel();
  Handle(message, request);
}

void Admission::EncodeTexts(const InferMessage& message, Request* request, TextWaiter* waiter) {
  MPSD_CHECK(request->model != nullptr);
  texts_->Enqueue(request->tenant, [this, &message, request, waiter] {
    waiter->TextsDone(Encode(message, request, [waiter] { return waiter->GoOn(); }));
  });
}

absl::Status Admission::Admit(const InferMessage& message, Request* request, Handled* handled) {
  if (absl::Status status = CheckServing(models_->stage, *request); !status.ok()) return status;
  absl::StatusOr<std::shared_ptr<ServedModel>> model =
      FindServed(*models_, message.model, message.version);
  if (!model.ok()) return model.status();
  request->model = *model;
  request->metrics = &(*model)->metrics;
  // A model without workers keeps its queue: a new worker starts in a moment.
  if (absl::Status status = CheckLoaded(**model); !status.ok()) return status;
  if ((*model)->spec.decoupled && !message.takes_many) {
    return absl::UnimplementedError(
        "ModelInfer RPC doesn't support models with decoupled transaction policy");
  }
  const uint64_t text_bytes = BytesToEncode(message, **model, *request);
  if (text_bytes > bounds_.bytes) {
    return WithId(
        absl::InvalidArgumentError(absl::StrCat("the texts of the request have ", text_bytes,
                                                " bytes; at most ", bounds_.bytes, " are served")),
        message.id);
  }
  // An unusable tokenizer says so at once.
  if (text_bytes > kInlineTextBytes && (*model)->texts.ok()) {
    *handled = Handled::kAwaitsTexts;
    return absl::OkStatus();
  }
  return Enter(message, model->get(), request, handled);
}

absl::Status Admission::CountTokens(const InferMessage& message, const Request& request,
                                    uint64_t count) const {
  uint64_t others = 0;
  if (message.texts.call_tokens != nullptr) {
    Uncount(message, request);
    others = message.texts.call_tokens->fetch_add(count, std::memory_order_relaxed);
  }
  if (count <= bounds_.tokens && others <= bounds_.tokens - count) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the texts of the request have more than ",
                                                 bounds_.tokens, " tokens; no more are served"));
}

absl::Status Admission::Encode(const InferMessage& message, Request* request,
                               absl::FunctionRef<absl::Status()> go_on) const {
  auto tokens = mpsd::EncodeTexts(message, *request->model, clock_, go_on);
  if (!tokens.ok()) return WithId(tokens.status(), message.id);
  absl::Status status = CountTokens(message, *request, (*tokens)->token_count);
  if (!status.ok()) return WithId(status, message.id);
  request->token_count = (*tokens)->token_count;
  request->truncated_texts = (*tokens)->truncated_texts;
  request->row_of_text = (*tokens)->row_of_text;
  request->tokens = *std::move(tokens);
  return absl::OkStatus();
}

absl::Status Admission::CountRows(int64_t now_ns, Request* request) const {
  if (request->is_step || request->is_counted) return absl::OkStatus();
  const int64_t wait_ns = rates_->Take(request->tenant, request->rows, now_ns);
  request->is_counted = wait_ns == 0;
  if (request->is_counted) return absl::OkStatus();
  return WithRetryAfter(absl::ResourceExhaustedError("the rate of the caller's rows is exceeded"),
                        wait_ns);
}

absl::Status Admission::Enter(const InferMessage& message, ServedModel* model, Request* request,
                              Handled* handled) {
  const QueuePolicies& queue = model->facts.queue;
  request->priority = message.priority;
  request->level = queue.LevelOf(message.priority);
  if (model->facts.sequences.has_value()) request->sequence = &message.sequence;
  ApplyPolicy(queue.levels[request->level], message, request);
  const int64_t now_ns = clock_->NowNs();
  if (request->expiry_ns() <= now_ns) {
    return absl::DeadlineExceededError("Request timeout expired");
  }
  const bool has_texts = HasTexts(message, *model);
  if (!has_texts && message.texts.prompt_name.has_value() && model->texts.ok()) {
    return absl::InvalidArgumentError("'prompt_name' is there, but rows of tokens have no prompt");
  }
  // A replaced generation may have encoded an input that this one takes as it is.
  if (!has_texts) request->ForgetTexts();
  absl::Status status;
  if (has_texts && !HasTokens(*request, *model)) {
    status = Encode(message, request, [] { return absl::OkStatus(); });
  }
  if (!status.ok()) return status;
  status = Validate(has_texts ? request->tokens->message : message, *model, request);
  if (status.ok()) status = WithId(CountRows(now_ns, request), message.id);
  if (!status.ok()) return status;
  // A request with a kept answer has ended, and may be in use for the next call.
  const bool may_be_kept =
      model->cache != nullptr && !model->spec.decoupled && !request->inputs_may_change;
  // Where answers are kept, the rest of the call may need no place in the queue.
  request->rows_behind = may_be_kept ? 0 : RowsBehind(message.texts, request->rows);
  if (may_be_kept && !request->is_arriving && model->cache->TryAnswer(request)) {
    return absl::OkStatus();
  }
  status = ApplyPadding(model->spec, request);
  request->filler = request->is_arriving ? nullptr : &writer_;
  if (status.ok() && request->is_arriving) status = CheckArriving(*model, may_be_kept, *request);
  if (!status.ok()) return WithId(status, message.id);
  RowQueue* const rows = model->queue->RowsFor(*request);
  if (MayJoin(request->bunch, rows, *request)) {
    Join(message, rows, request);
    *handled = Handled::kLater;
    return absl::OkStatus();
  }
  RowTargets targets;
  status = model->queue->Reserve(request, &targets);
  if (!status.ok()) return WithId(status, message.id);
  if (targets.later) {
    *handled = Handled::kLater;
    return absl::OkStatus();
  }
  writer_.Fill(model->spec, *request, targets);
  if (request->is_arriving) {
    request->rest = RestOf(*request, targets);
    return absl::OkStatus();
  }
  rows->Commit(request);
  return absl::OkStatus();
}

}  // namespace mpsd
