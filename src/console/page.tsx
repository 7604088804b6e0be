import { render } from "preact";
import { useState } from "preact/hooks";
import { Console } from "./shell/console.tsx";
import { forgetKey, keepKey, takeKey } from "./shell/key.ts";
import { SignIn } from "./shell/sign-in.tsx";

function Page({ first }: { first: string | null }) {
  const [key, setKey] = useState(first);
  const [reason, setReason] = useState<string | null>(null);
  if (key === null) {
    return (
      <SignIn
        reason={reason}
        onKey={(given) => {
          keepKey(given);
          setReason(null);
          setKey(given);
        }}
      />
    );
  }
  return (
    <Console
      key={key}
      keyText={key}
      onSignOut={(why) => {
        forgetKey();
        setReason(why);
        setKey(null);
      }}
    />
  );
}

const begun = takeKey();
render(<Page first={begun} />, document.body);
// A link with a key, followed in a tab that is open already.
addEventListener("hashchange", () => {
  if (!location.hash.startsWith("#key=")) return;
  takeKey();
  location.reload();
});
