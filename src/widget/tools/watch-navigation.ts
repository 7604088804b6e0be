/** Whether this page is about to be left for another document. */
export interface NavigationWatch {
  isLeaving(): boolean;
  /** Resolves when the page stays after all: after `ms`, or when it is back from the browser's page cache. */
  stayed(ms: number): Promise<void>;
  stop(): void;
}

/**
 * A page tool may start a navigation and then return. Its result must be posted by the next page, as a request made now
 * would be cut off. Not counted: navigation within the document, a download, a navigation that the page prevents or
 * handles itself.
 */
export function watchNavigation(): NavigationWatch {
  const navigation = (window as Partial<Window & typeof globalThis>).navigation;
  let started: Event | null = null;
  const note = (event: Event) => (started = event);
  const clear = () => (started = null);
  const noteNavigate = (event: NavigateEvent) => {
    if (event.destination.sameDocument || event.hashChange || event.downloadRequest !== null) return;
    started = event;
  };

  if (navigation === undefined) {
    window.addEventListener("beforeunload", note);
  } else {
    navigation.addEventListener("navigate", noteNavigate);
    navigation.addEventListener("navigateerror", clear);
  }
  let onReturn = () => {};
  const noteShown = ({ persisted }: PageTransitionEvent) => {
    if (!persisted) return;
    clear();
    onReturn();
  };
  window.addEventListener("pageshow", noteShown);
  return {
    // Read late: handlers that prevent or intercept the event run after ours.
    isLeaving: () => started !== null && !started.defaultPrevented && !navigation?.transition,
    stayed: (ms) =>
      new Promise((resolve) => {
        onReturn = resolve;
        setTimeout(resolve, ms);
      }),
    stop() {
      window.removeEventListener("pageshow", noteShown);
      window.removeEventListener("beforeunload", note);
      navigation?.removeEventListener("navigate", noteNavigate);
      navigation?.removeEventListener("navigateerror", clear);
    },
  };
}
