import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { messageOf } from "./service/problem.ts";
import { Console } from "./shell/console.tsx";
import { forgetKey, isSignedIn, keepKey, takeKey } from "./shell/key.ts";
import { finishSignIn, signOut, takeAnswer } from "./shell/openid.ts";
import { SignIn } from "./shell/sign-in.tsx";

function Page({ first, answer }: { first: string | null; answer: string | null }) {
  const [key, setKey] = useState(first);
  const [reason, setReason] = useState<string | null>(null);
  const [finishing, setFinishing] = useState(answer !== null);
  useEffect(() => {
    if (answer === null) return;
    finishSignIn(answer)
      .then(setKey, (error: unknown) => setReason(messageOf(error)))
      .finally(() => setFinishing(false));
  }, []);
  if (finishing) {
    return (
      <main class="sign-in">
        <h1>Console</h1>
        <p role="status">Signing in</p>
      </main>
    );
  }
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
        const wasSignedIn = isSignedIn();
        if (why === null && wasSignedIn) signOut(key);
        forgetKey();
        setReason(why !== null && wasSignedIn ? "You are signed out. Sign in again to go on." : why);
        setKey(null);
      }}
    />
  );
}

const answer = takeAnswer();
const begun = takeKey();
render(<Page first={answer === null ? begun : null} answer={answer} />, document.body);
// A link with a key, followed in a tab that is open already.
addEventListener("hashchange", () => {
  if (!location.hash.startsWith("#key=")) return;
  takeKey();
  location.reload();
});
