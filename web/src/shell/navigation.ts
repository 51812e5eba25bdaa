import {
  BellRing,
  ChartColumnStacked,
  CreditCard,
  Ellipsis,
  KeyRound,
  List,
  SlidersHorizontal,
  Workflow,
} from 'lucide-react';

const inBar = [
  { to: '/', label: 'Overview', icon: ChartColumnStacked },
  { to: '/requests', label: 'Requests', icon: List },
  { to: '/alerts', label: 'Alerts', icon: BellRing },
  { to: '/keys', label: 'Keys', icon: KeyRound },
] as const;

/** On a phone these are on the page "More". */
export const furtherPages = [
  { to: '/sessions', label: 'Sessions', icon: Workflow },
  { to: '/rules', label: 'Rules', icon: SlidersHorizontal },
  { to: '/billing', label: 'Billing', icon: CreditCard },
] as const;

/** The pages in the order of the side menu. */
export const pages = [...inBar, ...furtherPages] as const;

/** The pages in the bottom bar of a phone. */
export const barPages = [...inBar, { to: '/more', label: 'More', icon: Ellipsis }] as const;

export type Page = (typeof pages | typeof barPages)[number];
