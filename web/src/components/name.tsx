import { Text } from '@mantine/core';

const WRAPPED = { overflowWrap: 'anywhere', whiteSpace: 'normal' } as const;

/** A name that may be long: it wraps once, and hovering shows it whole. One text, which Ctrl-F and copying find. */
export const Name = ({ of, className }: { readonly of: string; readonly className?: string | undefined }) => (
  <Text span inherit lineClamp={2} miw={0} className={className} style={WRAPPED} title={of}>
    {of}
  </Text>
);
