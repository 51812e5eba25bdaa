import { Button, Group, Stack, Text, VisuallyHidden } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { Link, Outlet } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { VerifyEmail } from '../account/verify-email.tsx';
import { useApi, useMe } from '../app.ts';
import { Mark } from '../components/brand.tsx';
import { AnchorLink } from '../components/links.tsx';
import { useHasNotifications } from '../components/notify.ts';
import { useBudgets, usePauses } from '../limits/use-limits.ts';
import { ColorScheme, SignedIn, TimesShown } from './account.tsx';
import { barPages, type Page, pageGroups } from './navigation.ts';
import classes from './shell.module.css';

/** Loaded when it is first asked for. */
const Palette = lazy(() => import('./palette.tsx'));

const isApple = /mac|iphone|ipad/i.test(navigator.userAgent);

/** The button, and Ctrl-K or ⌘K anywhere, that opens the command palette. */
const OpenPalette = () => {
  const [opened, setOpened] = useState(false);
  const open = () => setOpened(true);
  useHotkeys([['mod+K', open]], []);
  return (
    <>
      <Button
        variant="default"
        size="xs"
        mb={12}
        c="dimmed"
        justify="space-between"
        leftSection={<Search size={16} aria-hidden />}
        rightSection={<kbd>{isApple ? '⌘K' : 'Ctrl K'}</kbd>}
        onClick={open}
      >
        Go to …
      </Button>
      {opened && (
        <Suspense>
          <Palette onClose={() => setOpened(false)} />
        </Suspense>
      )}
    </>
  );
};

const Notifications = lazy(() =>
  import('@mantine/notifications').then((library) => ({ default: library.Notifications })),
);

const MAX_COUNTED = 100;
const REFRESH_MS = 60_000;

/** The number of open alerts: `3`, `100+`; undefined for none, and while loading. */
const useOpenAlerts = (): string | undefined => {
  const { data } = useApi().useQuery(
    'get',
    '/alerts',
    { params: { query: { status: 'triggered', limit: MAX_COUNTED } } },
    { refetchInterval: REFRESH_MS },
  );
  const count = data?.items.length ?? 0;
  if (count === 0) return undefined;
  return data?.nextCursor ? `${count}+` : String(count);
};

const RefusingList = lazy(() => import('./refusing-list.tsx'));

/** On every page: what the gateway refuses now, and why. */
const Refusing = () => {
  const { data: budgets } = useBudgets();
  const { data: pauses } = usePauses();
  const usedUp = budgets?.items.filter(({ state }) => state.isBlocking) ?? [];
  const paused = pauses?.items ?? [];
  if (usedUp.length + paused.length === 0) return null;
  return (
    <Suspense>
      <RefusingList usedUp={usedUp} paused={paused} />
    </Suspense>
  );
};

interface PageLinkProps {
  readonly page: Page;
  readonly badge?: string | undefined;
}

const PageLink = ({ page: { to, label, icon: Icon }, badge }: PageLinkProps) => (
  <Link
    to={to}
    className={classes['link']}
    activeOptions={{ exact: to === '/', includeSearch: false }}
    activeProps={{ 'data-active': true }}
  >
    <Icon size={19} strokeWidth={1.8} aria-hidden />
    <span>{label}</span>
    {badge && (
      <span className={classes['badge']}>
        {badge}
        <VisuallyHidden> open</VisuallyHidden>
      </span>
    )}
  </Link>
);

/** The frame of the signed-in pages: a side menu, or a bottom bar on a phone. */
export const Shell = () => {
  const openAlerts = useOpenAlerts();
  const hasNotifications = useHasNotifications();
  const { may } = useMe();
  const badgeOf = ({ to }: Page) => (to === '/alerts' ? openAlerts : undefined);
  return (
    <div className={classes['shell']}>
      {hasNotifications && (
        <Suspense>
          <Notifications position="bottom-right" limit={3} />
        </Suspense>
      )}
      <a className={classes['skip']} href="#content">
        Skip to content
      </a>
      <header className={classes['side']}>
        <AnchorLink to="/" display="flex" c="var(--ink)" fw={660} underline="never" px={8} pb={14}>
          <Group gap={10}>
            <Mark /> AI Spend
          </Group>
        </AnchorLink>
        <OpenPalette />
        <nav className={classes['nav']} aria-label="Pages">
          {pageGroups.map(({ name, pages }) => {
            const shown = pages.filter(({ needs }) => may(needs));
            return (
              shown.length > 0 && (
                <Stack key={name} gap={1}>
                  <Text span c="dimmed" fz={11.5} fw={560} px={10} pb={3}>
                    {name}
                  </Text>
                  {shown.map((page) => (
                    <PageLink key={page.to} page={page} badge={badgeOf(page)} />
                  ))}
                </Stack>
              )
            );
          })}
        </nav>
        <TimesShown />
        <ColorScheme />
        <SignedIn />
      </header>
      <main id="content" className={classes['content']} tabIndex={-1}>
        <Outlet />
        <div className={classes['messages']}>
          <VerifyEmail />
          <Refusing />
        </div>
      </main>
      <nav className={classes['bar']} aria-label="Pages">
        {barPages
          .filter(({ needs }) => may(needs))
          .map((page) => (
            <PageLink key={page.to} page={page} badge={badgeOf(page)} />
          ))}
      </nav>
    </div>
  );
};
