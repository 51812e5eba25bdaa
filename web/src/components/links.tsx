import { Anchor, Button } from '@mantine/core';
import { createLink } from '@tanstack/react-router';

/** Links to pages, typed by the router, that look like the library's own. */
export const AnchorLink = createLink(Anchor<'a'>);
export const ButtonLink = createLink(Button<'a'>);
