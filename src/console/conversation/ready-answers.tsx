import { useRef } from "preact/hooks";

/** The channel's ready answers: the chosen one is put into the answer, where it can be changed before it is sent. */
export function ReadyAnswers({
  replies,
  onChoose,
}: {
  replies: readonly string[];
  onChoose: (reply: string) => void;
}) {
  const box = useRef<HTMLDetailsElement>(null);
  return (
    <details class="ready-answers" ref={box}>
      <summary>Ready answers</summary>
      <ul>
        {replies.map((reply, at) => (
          <li key={at}>
            <button
              type="button"
              class="button small"
              dir="auto"
              onClick={() => {
                if (box.current) box.current.open = false;
                onChoose(reply);
              }}
            >
              {reply}
            </button>
          </li>
        ))}
      </ul>
    </details>
  );
}
