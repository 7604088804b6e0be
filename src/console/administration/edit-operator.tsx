import { useState } from "preact/hooks";
import { TextField } from "../parts/fields.tsx";
import { FormDialog } from "../parts/form-dialog.tsx";
import { Trouble } from "../parts/trouble.tsx";
import { pathOf } from "../service/api.ts";
import type { OperatorView } from "../service/views.ts";
import { useConsole } from "../shell/console-context.ts";

/** A picture is stored this large, in pixels: shown at a third of it. */
const SIZE_PX = 96;

/** What visitors see of an operator, and whose conversations their inbox shows first. */
export function EditOperator({
  operator,
  onChanged,
  onClose,
}: {
  operator: OperatorView;
  onChanged: () => void;
  onClose: () => void;
}) {
  const { api } = useConsole();
  const [displayName, setDisplayName] = useState(operator.displayName ?? "");
  const [queues, setQueues] = useState((operator.queues ?? []).join("\n"));
  const [picture, setPicture] = useState(operator.picture ?? null);
  const [isNoImage, setNoImage] = useState(false);
  const own = queues.split("\n").map((name) => name.trim());
  const names = [...new Set(own)].filter((name) => name !== "");
  const save = async () => {
    const name = displayName.trim() === "" ? null : displayName.trim();
    const change = { displayName: name, picture, queues: names.length === 0 ? null : names };
    await api.send("PATCH", pathOf("operators", operator.name), change);
    onChanged();
  };
  const choose = async (file: File | undefined) => {
    try {
      if (file) setPicture(await scaledDown(file));
      setNoImage(false);
    } catch {
      setNoImage(true);
    }
  };
  return (
    <FormDialog title={`What visitors see of ${operator.name}`} send="Save" onSend={save} onClose={onClose}>
      <TextField
        label="Display name"
        value={displayName}
        onInput={setDisplayName}
        hint="Empty: the name. It counts from the next conversation that is taken."
        autoFocus
      />
      <div class="field picture">
        <label for="operator-picture">Picture</label>
        {picture !== null && <img src={picture} alt="" width={48} height={48} />}
        <input
          id="operator-picture"
          type="file"
          accept="image/*"
          onChange={(event) => void choose(event.currentTarget.files?.[0])}
        />
        {picture !== null && (
          <button type="button" class="button small" onClick={() => setPicture(null)}>
            No picture
          </button>
        )}
        <Trouble text={isNoImage ? "This file is no image that the browser can read." : null} />
      </div>
      <TextField
        label="Queues"
        rows={2}
        value={queues}
        onInput={setQueues}
        hint="One a line: the inbox shows these first. None: all."
      />
    </FormDialog>
  );
}

/** Its middle, square and small: it goes to every visitor whom the person answers. */
async function scaledDown(file: File): Promise<string> {
  const image = await createImageBitmap(file);
  const side = Math.min(image.width, image.height);
  const [x, y] = [(image.width - side) / 2, (image.height - side) / 2];
  const canvas = document.createElement("canvas");
  canvas.width = SIZE_PX;
  canvas.height = SIZE_PX;
  canvas.getContext("2d")?.drawImage(image, x, y, side, side, 0, 0, SIZE_PX, SIZE_PX);
  image.close();
  return canvas.toDataURL("image/jpeg", 0.85);
}
