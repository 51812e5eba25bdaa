interface NameProps {
  readonly of: string;
  readonly className?: string | undefined;
}

/** A name that may be long: it wraps once, and hovering shows it whole. One text, which Ctrl-F and copying find. */
export const Name = ({ of, className = '' }: NameProps) => (
  <span className={`name ${className}`} title={of}>
    {of}
  </span>
);
