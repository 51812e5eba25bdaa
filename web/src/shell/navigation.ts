import {
  BellRing,
  ChartColumnStacked,
  CreditCard,
  Ellipsis,
  KeyRound,
  List,
  ScrollText,
  SlidersHorizontal,
  Users,
  Workflow,
} from 'lucide-react';

const inBar = [
  { to: '/', label: 'Overview', icon: ChartColumnStacked, needs: 'spend:read' },
  { to: '/requests', label: 'Requests', icon: List, needs: 'requests:read' },
  { to: '/alerts', label: 'Alerts', icon: BellRing, needs: 'rules:read' },
  { to: '/keys', label: 'Keys', icon: KeyRound, needs: 'keys:read' },
] as const;

/** On a phone these are on the page "More". */
export const furtherPages = [
  { to: '/sessions', label: 'Sessions', icon: Workflow, needs: 'requests:read' },
  { to: '/rules', label: 'Rules', icon: SlidersHorizontal, needs: 'rules:read' },
  { to: '/members', label: 'Members', icon: Users, needs: 'members:read' },
  { to: '/audit', label: 'Audit log', icon: ScrollText, needs: 'audit:read' },
  { to: '/billing', label: 'Billing', icon: CreditCard, needs: 'billing:read' },
] as const;

/** The pages in the order of the side menu. */
export const pages = [...inBar, ...furtherPages] as const;

/** The pages in the bottom bar of a phone. */
export const barPages = [...inBar, { to: '/more', label: 'More', icon: Ellipsis, needs: 'spend:read' }] as const;

export type Page = (typeof pages | typeof barPages)[number];
