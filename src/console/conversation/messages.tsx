import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Line } from "../../../machines/line.ts";
import { hasTooManyPixels } from "../../domain/threads/image-dimensions.ts";
import { Empty } from "../parts/empty.tsx";
import { Time } from "../parts/times.tsx";
import type { ChangeView, MessageView, StepView } from "../service/views.ts";
import { changeText } from "./changes.ts";
import { Markdown } from "./markdown.tsx";
import { MessageFiles } from "./message-files.tsx";
import type { ConversationPlace } from "./message-files.tsx";
import { openReply } from "./talk-state.ts";
import type { Talk } from "./watch-talk.ts";

/** A reader within this distance of the end has read everything: new messages keep the end in sight. */
const NEAR_PX = 80;

/** The conversation as a chat: new messages scroll in at the end, earlier ones are added above without a jump. */
export function Messages({
  watched,
  changes,
  visitor,
  reader,
  place: of,
}: {
  watched: Talk;
  changes: readonly ChangeView[];
  visitor: string;
  /** The operator who reads here. */
  reader: string;
  place: ConversationPlace;
}) {
  const { talk, hasEarlier } = watched;
  const { messages, writes } = talk;
  const box = useRef<HTMLDivElement>(null);
  const place = useRef({ first: "", height: 0, isAtEnd: true });
  const [isAsking, setAsking] = useState(false);
  const reply = openReply(talk);

  useLayoutEffect(() => {
    const list = box.current;
    if (!list) return;
    const first = messages[0]?.id ?? "";
    const before = place.current;
    if (before.isAtEnd) list.scrollTop = list.scrollHeight;
    else if (first !== before.first) list.scrollTop += list.scrollHeight - before.height;
    place.current = { ...before, first, height: list.scrollHeight };
  }, [messages, changes, reply, writes]);

  // The list's height changes with what is below it: the answer form comes and goes.
  useEffect(() => {
    const list = box.current;
    if (!list) return;
    const resized = new ResizeObserver(() => {
      if (place.current.isAtEnd) list.scrollTop = list.scrollHeight;
    });
    resized.observe(list);
    return () => resized.disconnect();
  }, []);

  const scrolled = () => {
    const list = box.current;
    if (!list) return;
    const isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < NEAR_PX;
    place.current = { ...place.current, height: list.scrollHeight, isAtEnd };
  };
  const askEarlier = async () => {
    setAsking(true);
    await watched.earlier();
    setAsking(false);
  };
  return (
    <div class="messages" ref={box} onScroll={scrolled} tabIndex={0} role="log" aria-label="Messages">
      {hasEarlier && (
        <button type="button" class="button earlier" disabled={isAsking} onClick={() => void askEarlier()}>
          Earlier messages
        </button>
      )}
      {withChanges(messages, changes, hasEarlier).map((item) =>
        "how" in item ? (
          <p key={`change ${item.at}`} class="change">
            {changeText(item)} <Time at={item.at} />
          </p>
        ) : (
          <Message key={item.id} message={item} visitor={visitor} place={of} />
        ),
      )}
      {reply && <OpenReply lines={reply.lines} />}
      {writes !== null && writes !== reader && <p class="quiet">{writes} writes…</p>}
      {messages.length === 0 && !watched.isLoading && watched.trouble === null && (
        <Empty title="No messages yet." />
      )}
    </div>
  );
}

/** In the order in which they came. What came before messages that are not loaded comes with them. */
function withChanges(
  messages: readonly MessageView[],
  changes: readonly ChangeView[],
  hasEarlier: boolean,
): (MessageView | ChangeView)[] {
  const sinceMs = hasEarlier ? (messages[0]?.createdAt ?? 0) : 0;
  const shown = changes.filter(({ at }) => at >= sinceMs);
  const timeOf = (item: MessageView | ChangeView) => ("how" in item ? item.at : item.createdAt);
  // Stable: a change follows the messages of its own moment.
  return [...messages, ...shown].sort((a, b) => timeOf(a) - timeOf(b));
}

function Message({
  message,
  visitor,
  place,
}: {
  message: MessageView;
  visitor: string;
  place: ConversationPlace;
}) {
  const { role, content, createdAt, steps = [], attachments = [], model, error, author, feedback } = message;
  const { files } = message;
  const who = role === "user" ? visitor : (author?.name ?? "Assistant");
  return (
    <article class={`message ${role}${author ? " person" : ""}`} aria-label={`${who}:`}>
      <p class="who">
        {who} <Time at={createdAt} />
        {model !== undefined && <span> by {model}</span>}
      </p>
      <Steps steps={steps} />
      {role === "user" ? (
        <div class="text" dir="auto">
          {content}
        </div>
      ) : (
        <Markdown text={content} />
      )}
      {attachments.map((attachment, at) => (
        <Picture key={at} {...attachment} />
      ))}
      {files && <MessageFiles files={files} place={place} />}
      {error && (
        <p class="failed">
          Failed{error.code === undefined ? "" : ` (${error.code})`}
          {error.message !== content && `: ${error.message}`}
        </p>
      )}
      {feedback && <Feedback {...feedback} />}
    </article>
  );
}

/** The visitor's rating, as text: a comment is shown as written. */
function Feedback({ rating, comment }: NonNullable<MessageView["feedback"]>) {
  return (
    <p class="feedback" dir="auto">
      <span class={rating === "up" ? "flag" : "flag bad"}>
        {rating === "up" ? "thumbs up" : "thumbs down"}
      </span>
      {comment !== undefined && comment !== "" && ` ${comment}`}
    </p>
  );
}

/**
 * An image on another host is named, not fetched: its host would learn who reads. So is one that would fill the memory
 * when it is drawn.
 */
function Picture({ url, name = "image" }: { url: string; name?: string }) {
  const isTooLarge = useMemo(() => hasTooManyPixels(url), [url]);
  if (isTooLarge) return <p class="elsewhere">{name}: too large to be shown</p>;
  if (url.startsWith("data:image/")) return <img src={url} alt={name} loading="lazy" />;
  return <p class="elsewhere mono">{url}</p>;
}

function Steps({ steps }: { steps: readonly StepView[] }) {
  if (steps.length === 0) return null;
  return (
    <ul class="steps-taken">
      {steps.map((step, at) => (
        <li key={at} class={step.phase}>
          {step.text === "" ? step.id : step.text} <span class="quiet">{step.phase}</span>
        </li>
      ))}
    </ul>
  );
}

/** The reply that is being written. */
function OpenReply({ lines }: { lines: readonly Line[] }) {
  const text = lines.map((line) => (line.type === "delta" ? line.text : "")).join("");
  const steps = lines.filter((line) => line.type === "step");
  const latest = [...new Map(steps.map((step) => [step.id, step])).values()];
  const call = lines.findLast((line) => line.type === "tool_call");
  return (
    <article class="message assistant open" aria-label="Assistant, writing:">
      <p class="who">
        Assistant <span class="quiet">writes</span>
      </p>
      <Steps steps={latest} />
      {text !== "" && <Markdown text={text} />}
      {call && <p class="quiet">Waits for the page: {call.tool}</p>}
    </article>
  );
}
