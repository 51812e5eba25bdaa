/** Names that differ most often do so at their end. */
const TAIL = 6;
const LONG = 12;

/**
 * A name that may be long: where there is no room, its middle is left out. Hovering shows it whole, and a
 * screen reader reads it as one.
 */
export const Name = ({ of, className = '' }: { readonly of: string; readonly className?: string | undefined }) =>
  of.length <= LONG ? (
    <span className={`truncate ${className}`}>{of}</span>
  ) : (
    <span className={`name ${className}`} title={of} role="img" aria-label={of}>
      <span className="truncate">{of.slice(0, -TAIL)}</span>
      <span>{of.slice(-TAIL)}</span>
    </span>
  );
