import { Text } from '@mantine/core';

const WRAPPED = { overflowWrap: 'anywhere', whiteSpace: 'normal' } as const;

interface NameProps {
  readonly of: string;
  readonly className?: string | undefined;
}

/** A name that may be long: it wraps once, and hovering shows it whole. One text, which Ctrl-F and copying find. */
export const Name = ({ of, className }: NameProps) => (
  <Text span inherit lineClamp={2} miw={0} className={className} style={WRAPPED} title={of}>
    {of}
  </Text>
);
