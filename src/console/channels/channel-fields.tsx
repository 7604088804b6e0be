import { CheckField, SelectField, TextField } from "../parts/fields.tsx";
import type { ChannelView } from "../service/views.ts";
import { CapFields } from "./cap-fields.tsx";
import type { ChannelDraft } from "./draft.ts";
import { HandOffFields } from "./hand-off-fields.tsx";
import { RetentionFields } from "./retention-fields.tsx";

const ACCESS = [
  ["open", "Everybody who is not blocked"],
  ["whitelist", "Whitelisted users alone"],
] as const;

/** The settings that the console changes. */
export function ChannelFields({
  kind,
  draft,
  onChange,
}: {
  kind: ChannelView["kind"];
  draft: ChannelDraft;
  onChange: (draft: ChannelDraft) => void;
}) {
  const set = (change: Partial<ChannelDraft>) => onChange({ ...draft, ...change });
  return (
    <>
      <fieldset>
        <legend>Who may talk</legend>
        <CheckField
          label="Channel enabled"
          hint="Off: every request to it is refused."
          checked={draft.enabled}
          onChange={(enabled) => set({ enabled })}
        />
        <SelectField
          label="Access"
          value={draft.accessMode}
          choices={ACCESS}
          onChoose={(accessMode) => set({ accessMode })}
        />
        {kind === "web" && (
          <TextField
            label="Origins"
            rows={3}
            value={draft.origins}
            onInput={(origins) => set({ origins })}
            hint="The sites whose pages may show the widget, one a line: https://shop.example"
          />
        )}
      </fieldset>
      <fieldset>
        <legend>The agent</legend>
        <TextField
          label="Instructions"
          rows={10}
          value={draft.instructions}
          onInput={(instructions) => set({ instructions })}
          hint="What the model is told about its task. Applies from the next message."
        />
        <TextField
          label="Model"
          value={draft.model}
          onInput={(model) => set({ model })}
          placeholder="the default"
          hint="PROVIDER/MODEL, or a name of the providers file."
        />
        <CheckField
          label="Messages may come with images"
          checked={draft.images}
          onChange={(images) => set({ images })}
        />
        <CheckField
          label="Messages may come with files"
          checked={draft.files}
          onChange={(files) => set({ files })}
          hint="PDF, Word, text, CSV: the model is told what they say."
        />
      </fieldset>
      <HandOffFields draft={draft} onChange={set} />
      <CapFields draft={draft} onChange={set} />
      <RetentionFields draft={draft} onChange={set} />
    </>
  );
}
