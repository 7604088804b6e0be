import { useEffect, useRef } from "preact/hooks";

const LOOK_MS = 5_000;

/** For what changes on its own: calls `look` every few seconds while the page is seen. */
export function useLookAgain(look: () => void): void {
  const latest = useRef(look);
  latest.current = look;
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === "visible" && latest.current(), LOOK_MS);
    return () => clearInterval(timer);
  }, []);
}
