import { TextField } from "../parts/fields.tsx";
import type { ChannelDraft } from "./draft.ts";

/** After how long what rests is deleted by itself, and what that means for what is there now. */
export function RetentionFields({
  draft: { threadsDays, anonymousDays },
  onChange,
}: {
  draft: ChannelDraft;
  onChange: (change: Partial<ChannelDraft>) => void;
}) {
  return (
    <fieldset>
      <legend>Deletion by age</legend>
      <p class="hint">Days, fractions allowed. Empty: kept forever.</p>
      <div class="caps">
        <TextField
          label="Conversations without a message for"
          value={threadsDays}
          onInput={(text) => onChange({ threadsDays: daysOf(text) })}
          inputMode="decimal"
          placeholder="for good"
        />
        <TextField
          label="Anonymous users, not seen for"
          value={anonymousDays}
          onInput={(text) => onChange({ anonymousDays: daysOf(text) })}
          inputMode="decimal"
          placeholder="for good"
        />
      </div>
      {(threadsDays !== "" || anonymousDays !== "") && (
        <p class="hint" role="status">
          {threadsDays !== "" &&
            `Conversations without a message for ${daysText(threadsDays)} are deleted for good. `}
          {anonymousDays !== "" &&
            `Anonymous users whose conversations all rest for ${daysText(anonymousDays)}, and who have no valid token, are deleted for good, with everything of theirs. `}
          That begins within a minute after this is saved, and holds for what is older now, too.
        </p>
      )}
    </fieldset>
  );
}

/** Digits and one point; a comma is taken for it. */
function daysOf(text: string): string {
  const [whole = "", ...fraction] = text
    .replaceAll(",", ".")
    .replaceAll(/[^\d.]/g, "")
    .split(".");
  return fraction.length === 0 ? whole : `${whole}.${fraction.join("")}`;
}

function daysText(days: string): string {
  return days === "1" ? "1 day" : `${days} days`;
}
