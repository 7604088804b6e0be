import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";

const SHOWN_MS = 5_000;

/** One line that says what was just done; it disappears by itself. */
export function useToast(): { tell: (text: string) => void; toast: VNode } {
  const [text, setText] = useState("");
  useEffect(() => {
    if (text === "") return;
    const timer = setTimeout(() => setText(""), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return {
    tell: setText,
    toast: (
      <p class="toast" role="status" data-empty={text === ""}>
        {text}
      </p>
    ),
  };
}
