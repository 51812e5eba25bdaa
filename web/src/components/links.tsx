import { Anchor, Button, type ButtonProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import { ArrowLeft } from 'lucide-react';
import type { ComponentProps, ReactNode } from 'react';

const ButtonAnchor = (props: ButtonProps & Omit<ComponentProps<'a'>, keyof ButtonProps>) => (
  <Button component="a" {...props} />
);

const Back = ({ children, ...props }: ComponentProps<typeof Anchor<'a'>>) => (
  <Anchor size="sm" display="inline-flex" mb={4} style={{ alignItems: 'center', gap: 5 }} {...props}>
    <ArrowLeft size={14} aria-hidden /> {children}
  </Anchor>
);

const InText = (props: ComponentProps<typeof Anchor<'a'>>) => <Anchor inherit underline="always" {...props} />;

/** Mantine's link and button as links to pages, typed by the router; a link within a text; and the one from a page to the list above it. */
export const AnchorLink = createLink(Anchor<'a'>);
export const ButtonLink = createLink(ButtonAnchor);
export const TextLink = createLink(InText);
export const BackLink = createLink(Back);

export const LimitLink = ({ id, children }: { readonly id: string; readonly children: ReactNode }) => (
  <TextLink to="/limits/$limitId" params={{ limitId: id }}>
    {children}
  </TextLink>
);
