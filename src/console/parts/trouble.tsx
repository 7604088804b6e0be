/** What went wrong, said as soon as it is there. */
export function Trouble({ text, onRetry }: { text: string | null; onRetry?: () => void }) {
  return (
    <div role="alert" class="alert">
      {text !== null && (
        <p class="trouble">
          {text}
          {onRetry && (
            <button type="button" class="button small" onClick={onRetry}>
              Try again
            </button>
          )}
        </p>
      )}
    </div>
  );
}
