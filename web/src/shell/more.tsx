import { Stack } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { ChevronRight } from 'lucide-react';
import { useMe } from '../app.ts';
import { PageHead } from '../components/page.tsx';
import { ColorScheme, SignedIn, TimesShown } from './account.tsx';
import { barPages, type Page, pageGroups } from './navigation.ts';
import classes from './shell.module.css';

const inBar: ReadonlySet<string> = new Set(barPages.map(({ to }) => to));

/** The pages and settings that a phone's bar has no room for. */
export const More = () => {
  const { may } = useMe();
  return (
    <div className="page">
      <PageHead title="More" />
      <nav className={`card ${classes['further']}`} aria-label="Further pages">
        {pageGroups
          .flatMap(({ pages }): readonly Page[] => pages)
          .filter((page) => may(page.needs) && !inBar.has(page.to))
          .map(({ to, label, icon: Icon }) => (
            <Link key={to} to={to}>
              <Icon size={19} strokeWidth={1.8} aria-hidden />
              {label}
              <ChevronRight size={16} aria-hidden />
            </Link>
          ))}
      </nav>
      <Stack gap={12} p={16} className="card">
        <ColorScheme />
        <TimesShown />
        <SignedIn />
      </Stack>
    </div>
  );
};
