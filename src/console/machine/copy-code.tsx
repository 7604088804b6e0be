import { useState } from "preact/hooks";

const CODE = "/console/thread.js";

/** Copies the chart's code for Stately's editor, and says what to do with it. */
export function CopyCode() {
  const [isCopied, setCopied] = useState<boolean | null>(null);
  const copy = async () => {
    const code = await (await fetch(CODE)).text();
    await navigator.clipboard.writeText(code);
  };
  return (
    <>
      <button
        type="button"
        class="button small"
        onClick={() =>
          void copy().then(
            () => setCopied(true),
            () => setCopied(false),
          )
        }
      >
        Copy for Stately's editor
      </button>
      <span class="hint" role="status">
        {isCopied === true && "Copied. In the editor: Code, Import, paste."}
        {isCopied === false && (
          // A browser lets pages write to the clipboard on https and on this machine alone.
          <>
            Cannot copy here: <a href={CODE}>the code</a>
          </>
        )}
      </span>
    </>
  );
}
