import { CheckField, SelectField, TextField } from "../parts/fields.tsx";
import type { ChannelView } from "../service/views.ts";
import type { ChannelDraft } from "./draft.ts";
import { ReplyFields } from "./reply-fields.tsx";
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
  const cap = (
    name: "maxTokensPerDay" | "maxTokensPerUserPerDay" | "maxOutputTokensPerRun",
    label: string,
  ) => (
    <TextField
      label={label}
      value={draft[name]}
      onInput={(text) => set({ [name]: text.replaceAll(/\D/g, "") })}
      inputMode="numeric"
      placeholder="no cap"
    />
  );
  return (
    <>
      <fieldset>
        <legend>Who may talk</legend>
        <CheckField
          label="The channel is on"
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
          hint="What the model is told of its task. In force with the next message."
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
      </fieldset>
      <fieldset>
        <legend>People</legend>
        <CheckField
          label="A person may take over"
          hint="The model, the visitor and operators can ask for it; who waits is in the inbox."
          checked={draft.handsOff}
          onChange={(handsOff) => set({ handsOff })}
        />
        {draft.handsOff && (
          <>
            <TextField
              label="Seconds to wait for a person"
              value={draft.waitSeconds}
              onInput={(text) => set({ waitSeconds: text.replaceAll(/\D/g, "") })}
              inputMode="numeric"
              placeholder="600"
            />
            <TextField
              label="Said when a person is called"
              value={draft.handoffMessage}
              onInput={(handoffMessage) => set({ handoffMessage })}
              placeholder="a sentence of the service"
            />
            <TextField
              label="Said when nobody came"
              value={draft.unavailable}
              onInput={(unavailable) => set({ unavailable })}
              placeholder="a sentence of the service"
            />
            <ReplyFields replies={draft.replies} onChange={(replies) => set({ replies })} />
          </>
        )}
      </fieldset>
      <fieldset>
        <legend>Spending caps</legend>
        <p class="hint">In tokens, input and output together; days are UTC days. Empty: no cap.</p>
        <div class="caps">
          {cap("maxTokensPerDay", "The channel, in a day")}
          {cap("maxTokensPerUserPerDay", "One user, in a day")}
          {cap("maxOutputTokensPerRun", "Output of one run")}
        </div>
      </fieldset>
      <RetentionFields draft={draft} onChange={set} />
    </>
  );
}
